/**
 * `deno task pwa:shots`: pictures of every screen in both themes, into `docs/screens`. They are made from the real app, the
 * real relay and the real daemon, as the tests see them.
 */

import { BrowserHouse } from "./harness.ts";
import type { BrowserPhone } from "./browser_phone.ts";

const FOLDER = new URL("../../docs/screens/", import.meta.url).pathname;

/** A request as an agent makes it, so that the card has everything on it. */
const ISSUE = JSON.stringify({
  title: "Broken link in the guide",
  body: "The second link of the guide leads nowhere.",
});

/** Takes a picture of the present screen. */
type Shot = (name: string) => Promise<void>;

async function shoot(dark: boolean): Promise<number> {
  await using house = await BrowserHouse.start();
  await using phone = await house.newPhone({ dark, scale: 2 });
  let count = 0;
  const shot: Shot = async (name) => {
    await phone.evaluate("document.activeElement?.blur(); scrollTo(0, 0)");
    const file = `${name.replaceAll(" ", "-")}-${dark ? "dark" : "light"}.png`;
    await phone.page.screenshot({ path: FOLDER + file });
    count++;
  };
  await phone.page.goto(house.origin);
  await phone.screen("not-paired");
  await shot("not paired");
  await phone.press("Pair with a computer");
  await phone.screen("pair");
  await shot("scan");
  await house.pair(phone, shot);
  await shot("inbox empty");
  await card(
    house,
    phone,
    await house.giveSecret(phone, "github", {
      look: shot,
      origin: null,
      reason: "so that I can open issues for you",
    }),
    shot,
  );
  await answered(house, phone, await house.giveSecret(phone, "internal"), shot);
  for (const name of ["Secrets", "Activity", "Settings"]) {
    await phone.page.getByRole("navigation").getByRole("button", { name }).click();
    await phone.screen(name.toLowerCase());
    await phone.page.waitForTimeout(500); // what the screen asks the computer for
    await shot(name.toLowerCase());
  }
  return count;
}

/** A card for a well-known host. It is denied: nothing leaves this machine. */
async function card(house: BrowserHouse, phone: BrowserPhone, handle: string, shot: Shot): Promise<void> {
  const answer = house.client.call("http.request", {
    handle,
    method: "POST",
    url: "https://api.github.com/repos/acme/site/issues",
    headers: [["content-type", "application/json"]],
    body: { encoding: "utf8", data: ISSUE },
    reason: "open an issue for the broken link in the guide",
    wait_ms: 60_000,
    agent: { name: "claude" },
  }).catch(() => {});
  await phone.page.getByTestId("pending").waitFor();
  await shot("inbox");
  await phone.page.getByTestId("pending").click();
  await phone.screen("card");
  await phone.page.getByRole("button", { name: "Approve" }).and(phone.page.locator(":enabled")).waitFor();
  await shot("card");
  await phone.press("Deny");
  await answer;
  await phone.screen("gone");
  await shot("denied");
  await phone.press("To the inbox");
}

/** A card for the API of the test, which answers. */
async function answered(house: BrowserHouse, phone: BrowserPhone, handle: string, shot: Shot): Promise<void> {
  const answer = house.http(handle, "/status", "claude");
  await phone.page.getByTestId("pending").click();
  await phone.screen("card");
  await shot("card private network");
  await phone.press("Approve");
  await answer;
  await phone.screen("gone");
  await phone.page.getByText("Answered:").waitFor();
  await shot("answered");
  await phone.press("To the inbox");
}

if (import.meta.main) {
  await Deno.mkdir(FOLDER, { recursive: true });
  const count = await shoot(false) + await shoot(true);
  await Deno.stdout.write(new TextEncoder().encode(`${count} pictures in docs/screens\n`));
}
