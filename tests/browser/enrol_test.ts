/** Pairings in a real browser that must not end in a device. */

import assert from "node:assert/strict";
import type { BrowserPhone, PhoneOptions } from "./browser_phone.ts";
import { shareBrowserHouse, SHARED } from "./harness.ts";

const house = shareBrowserHouse();

/** Waits for the end of a pairing that failed. Nothing is enrolled or stored then. */
async function refused(phone: BrowserPhone): Promise<void> {
  await phone.page.getByRole("heading", { name: "Not paired" }).waitFor();
  assert.deepEqual(await phone.axe(), []);
  const { devices } = await house().client.call("devices.list", {});
  assert.deepEqual(devices, []);
  await phone.page.goto("about:blank");
  await phone.page.goto(house().origin);
  await phone.screen("not-paired");
}

/** What is wrong, the phone, a script in its page, whether it knows its person, and whether the recovery sheet is reached. */
const ROWS: [string, PhoneOptions, string | null, boolean, boolean][] = [
  ["an authenticator without PRF", { prf: false }, null, true, false],
  ["a prompt that is cancelled", {}, null, false, false],
  [
    "a passkey that gives another key at the second touch",
    {},
    `let touches = 0;
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = async (options) => {
      const credential = await get(options);
      if (++touches !== 2) return credential;
      const wrong = { prf: { results: { first: new Uint8Array(32).buffer, second: new Uint8Array(32).buffer } } };
      Object.defineProperty(credential, "getClientExtensionResults", { value: () => wrong });
      return credential;
    };`,
    true,
    true,
  ],
];
for (const [what, options, script, verified, proven] of ROWS) {
  Deno.test(`a pairing with ${what} ends without a device, and says what to do`, SHARED, async () => {
    const h = house();
    await using phone = await h.newPhone(options);
    if (script !== null) await phone.page.addInitScript(script);
    await phone.cdp.send("WebAuthn.setUserVerified", {
      authenticatorId: phone.authenticator,
      isUserVerified: verified,
    });
    await h.beginPairing(phone);
    if (proven) await h.proveSheet(phone);
    await phone.page.getByRole("alert").waitFor();
    assert.ok((await phone.page.getByRole("alert").innerText()).length > 20);
    await refused(phone);
  });
}

Deno.test(
  "a code that names a relay which the page was not served for is refused before anything is sent",
  SHARED,
  async () => {
    const h = house();
    await using phone = await h.newPhone();
    const { url } = await h.client.call("pair.begin", {});
    const [page, packed] = url.split("#p=");
    const parts = JSON.parse(
      new TextDecoder().decode(Uint8Array.fromBase64(packed!, { alphabet: "base64url" })),
    );
    parts[1] = "https://evil.example";
    const text = new TextEncoder().encode(JSON.stringify(parts)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    });
    const asked: string[] = [];
    phone.page.on("request", (request) => asked.push(request.url()));
    await phone.page.goto(`${page}#p=${text}`);
    await phone.page.getByRole("alert").filter({ hasText: "relay" }).waitFor();
    assert.ok(asked.every((one) => one.startsWith(`${h.origin}/`)), asked.join());
    await refused(phone);
  },
);

Deno.test(
  "storage that is wiped looks like a phone that was never paired, and the computer still lists it (B126)",
  SHARED,
  async () => {
    const h = house();
    await using phone = await h.newPhone();
    await h.pair(phone);
    await phone.page.goto("about:blank");
    await phone.cdp.send("Storage.clearDataForOrigin", { origin: h.origin, storageTypes: "indexeddb" });
    await phone.page.goto(h.origin);
    await phone.screen("not-paired");
    assert.match(await phone.page.getByTestId("not-paired").innerText(), /custos pair/);
    const { devices } = await h.client.call("devices.list", {});
    assert.equal(devices.length, 1);
    assert.deepEqual(phone.complaints, []);
  },
);
