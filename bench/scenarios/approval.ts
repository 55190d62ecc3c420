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
    "when the phone has opened the card; the second begins with the approval and holds the phone's own work (signing, the keys of the " +
    "passkey, unwrapping the file key) and ends with the answer.",
  async run({ folder, tell }: Settings): Promise<Outcome> {
    await using peers = await Peers.start(folder);
    await using house = await BenchHouse.start();
    await house.secret("bench", SECRET, peers.upstream);
    const { phone, client } = house.house;
    const cards: number[] = [];
    const answers: number[] = [];
    for (let i = 0; i < CARDS + 2; i++) {
      const params = paramsOf("bench", "GET", `${peers.upstream}/1k?n=${i}`);
      const agent = { name: i < 2 ? "warm-up" : "cards" };
      const asked = performance.now();
      const answer = client.call("http.request", { ...params, agent, wait_ms: 20_000 });
      const { url } = params;
      const card = await house.house.cardWhere(({ status, message: { doc } }) =>
        status === "pending" && doc.type === "http" && doc.http.url === url
      );
      const came = performance.now();
      await Promise.all([phone.approve(card.message.doc.id), answer]);
      if (i < 2) continue;
      cards.push(came - asked);
      answers.push(performance.now() - came);
    }
    tell(`card after ${median(cards).toFixed(1)} ms, answer after ${median(answers).toFixed(1)} ms`);
    return {
      figures: [
        atMost("request to card, p50", median(cards), "ms", 50, "≤ 50 ms"),
        atMost("approval to answer, p50", median(answers), "ms", 50, "≤ 50 ms"),
      ],
      notes: [],
    };
  },
};
