/** What a person waits for: the card, and after the touch the answer. */

import { paramsOf } from "../calls.ts";
import { BenchHouse } from "../house.ts";
import { Peers, SECRET } from "../peers.ts";
import { atMost, median, type Outcome, type Scenario, type Settings } from "../scenario.ts";

/** At most 20 cards an hour of one agent, and 60 in all (DESIGN §5.2). */
const CARDS = 18;

/** From the request to the card, and from the approval to the answer. */
export const approval: Scenario = {
  name: "approval",
  method:
    `${CARDS} GETs without a grant, each approved once by the software phone through a relay on this machine. The first time ends ` +
    "when the phone has opened and stored the card. The second begins when the phone posts the approval and ends when the agent has the " +
    "answer. What the phone does between (it derives the passkey's post-quantum keys, signs, unwraps the file key) is given beside it.",
  async run({ folder, tell }: Settings): Promise<Outcome> {
    await using peers = await Peers.start(folder);
    await using house = await BenchHouse.start();
    await house.secret("bench", SECRET, peers.upstream);
    const { phone, client } = house.house;
    const found = { card: [] as number[], phone: [] as number[], answer: [] as number[] };
    for (let i = 0; i < CARDS + 2; i++) {
      const params = paramsOf("bench", "GET", `${peers.upstream}/1k?n=${i}`);
      const agent = { name: i < 2 ? "warm-up" : "cards" };
      const asked = performance.now();
      const answer = client.call("http.request", { ...params, agent, wait_ms: 20_000 }).then(() =>
        performance.now()
      );
      const card = await house.house.cardWhere(({ status, message: { doc } }) =>
        status === "pending" && doc.type === "http" && doc.http.url === params.url
      );
      const came = performance.now();
      const [, answered] = await Promise.all([phone.approve(card.message.doc.id), answer]);
      const posted = house.posts.find((at) => at > came);
      if (i < 2 || posted === undefined) continue;
      found.card.push(came - asked);
      found.phone.push(posted - came);
      found.answer.push(answered - posted);
    }
    const card = median(found.card);
    const own = median(found.phone);
    const answer = median(found.answer);
    tell(
      `card after ${card.toFixed(1)} ms, the phone works ${own.toFixed(1)} ms, answer after ${
        answer.toFixed(1)
      } ms`,
    );
    return {
      figures: [
        atMost("request to card, p50", card, "ms", 50, "≤ 50 ms"),
        atMost("approval to answer, p50", answer, "ms", 50, "≤ 50 ms"),
        { name: "the software phone's own work, p50", value: own, unit: "ms" },
      ],
      notes: [],
    };
  },
};
