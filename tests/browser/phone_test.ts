/** The main job in a real browser: pair, give a secret, approve, see the answer. */

import assert from "node:assert/strict";
import type { BrowserPhone } from "./browser_phone.ts";
import { SECRET, shareBrowserHouse, SHARED } from "./harness.ts";

const house = shareBrowserHouse();
let phone: BrowserPhone;
let handle: string;

const axe: Record<string, string[]> = {};

/** Every screen is looked at by axe once it is there; the last test asks what it found. */
const look = async (screen: string) => {
  axe[screen] = await phone.axe();
};

Deno.test("a browser pairs by the link: words, two touches, recovery sheet", SHARED, async () => {
  const h = house();
  phone = await h.newPhone();
  await phone.page.goto(h.origin);
  await phone.screen("not-paired");
  await look("not paired");
  await phone.press("Pair with a computer");
  await phone.screen("pair");
  await look("scan");
  await h.pair(phone, look);
  await look("inbox");
  const { devices } = await h.client.call("devices.list", {});
  assert.equal(devices.length, 1);
  assert.deepEqual(phone.complaints, []);
});

Deno.test(
  "a secret that is given in the browser is sealed there, and nothing of it stays",
  SHARED,
  async () => {
    const h = house();
    handle = await h.giveSecret(phone, "browser-key", { look });
    assert.equal(handle, "custos:browser-key");
    assert.ok(!(await phone.page.content()).includes(SECRET));
    const stored = await phone.evaluate<string>(`(async () => {
    const open = indexedDB.open("custos");
    await new Promise((resolve) => open.onsuccess = resolve);
    const get = open.result.transaction("records").objectStore("records").getAll();
    await new Promise((resolve) => get.onsuccess = resolve);
    return JSON.stringify(get.result, (_, value) => value instanceof Map ? [...value] : value);
  })()`);
    assert.ok(stored.length > 1_000 && !stored.includes(SECRET));
    assert.deepEqual(phone.complaints, []);
  },
);

Deno.test(
  "an agent's request shows as a card with the same words, and its answer comes after one touch",
  SHARED,
  async () => {
    const h = house();
    const { page } = phone;
    const asked = await h.ask(handle, "/approve/this", "browser agent");
    await page.getByTestId("pending").waitFor();
    await look("inbox with a card");
    await page.getByTestId("pending").click();
    await phone.screen("card");
    assert.equal(await phone.words(), asked.fingerprint);
    const text = await page.getByTestId("card").innerText();
    for (
      const part of [
        "GET",
        new URL(h.api.origin).host,
        "/approve/this",
        "browser agent",
        "a test in a real browser",
      ]
    ) {
      assert.ok(text.includes(part), part);
    }
    await look("card");
    assert.equal(h.api.count("/approve/this"), 0);
    const answer = h.http(handle, "/approve/this", "browser agent");
    await phone.press("Approve");
    assert.equal((await answer).status_code, 200);
    await phone.screen("gone");
    await look("ended card");
    assert.equal(h.api.count("/approve/this"), 1);
    assert.match(h.api.seen.at(-1)!.head, new RegExp(`authorization: Bearer ${SECRET}`, "i"));
    assert.deepEqual(phone.complaints, []);
  },
);

Deno.test("a card that is denied in the browser sends nothing", SHARED, async () => {
  const h = house();
  const asked = await h.ask(handle, "/deny/this", "browser agent");
  await phone.page.getByTestId("pending").click();
  await phone.screen("card");
  await phone.press("Deny");
  const { status } = await h.client.call("access.status", { request_id: asked.id, wait_ms: 10_000 });
  assert.equal(status, "denied");
  assert.equal(h.api.count("/deny/this"), 0);
});

Deno.test("every other screen can be reached by its name", SHARED, async () => {
  const { page } = phone;
  await phone.press("To the inbox");
  for (const name of ["Secrets", "Activity", "Settings"]) {
    await page.getByRole("navigation").getByRole("button", { name }).click();
    await phone.screen(name.toLowerCase());
    await look(name);
  }
  assert.deepEqual(phone.complaints, []);
});

Deno.test("axe finds nothing on any screen", SHARED, () => {
  assert.ok(Object.keys(axe).length >= 15, Object.keys(axe).join());
  assert.deepEqual(Object.entries(axe).filter(([, found]) => found.length > 0), []);
});
