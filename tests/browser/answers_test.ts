/** Answers in a real browser, and what can come between a card and its answer. */

import assert from "node:assert/strict";
import { RpcError } from "@custos/rpc/rpc_error";
import { until } from "../e2e/harness_wait.ts";
import type { BrowserPhone } from "./browser_phone.ts";
import { shareBrowserHouse, SHARED } from "./harness.ts";

const house = shareBrowserHouse();
let phone: BrowserPhone;
let handle: string;

const answerTest = (name: string, fn: () => Promise<void>) =>
  Deno.test({
    ...SHARED,
    name,
    fn: async () => {
      if (phone === undefined) {
        phone = await house().newPhone();
        await house().pair(phone);
        handle = await house().giveSecret(phone, "answers");
      }
      await fn();
    },
  });

/** Asks for a path and opens the card. */
async function opened(path: string): Promise<{ id: string; fingerprint: string }> {
  const asked = await house().ask(handle, path, "answering agent");
  await toInbox();
  await phone.page.getByTestId("pending").filter({ hasText: asked.fingerprint }).click();
  await phone.screen("card");
  assert.equal(await phone.words(), asked.fingerprint);
  return asked;
}

/** Goes to the inbox from wherever a test ended. */
async function toInbox(): Promise<void> {
  const { page } = phone;
  for (const button of [/^‹? ?Inbox/, "To the inbox"]) {
    const found = page.getByRole("button", { name: button }).first();
    if (await found.isVisible()) {
      await found.click();
      break;
    }
  }
  await phone.screen("inbox");
}

const status = async (request_id: string, wait_ms = 15_000) =>
  (await house().client.call("access.status", { request_id, wait_ms })).status;

/** Whether a request of the same shape has to be approved (again). */
async function needsApproval(path: string): Promise<boolean> {
  try {
    await house().http(handle, path, "answering agent", 0);
    return false;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return error.kind === "needs_approval"; // else a request that the end of its grant has cut off
  }
}

answerTest("a path for 15 minutes is a choice of its own, and can be revoked", async () => {
  const h = house();
  const { page } = phone;
  const asked = await opened("/wide");
  await page.locator("details.allow summary").click();
  await page.getByRole("radio", { name: /15 min, at most 100 times/ }).check();
  assert.deepEqual(
    await phone.axe().then((found) => found.filter((line) => !line.startsWith("page-has-heading"))),
    [],
  );
  await phone.press("Approve");
  assert.equal(await status(asked.id), "granted");
  assert.equal((await h.http(handle, "/wide?page=1", "answering agent", 0)).status_code, 200);
  assert.equal((await h.http(handle, "/wide?page=2", "answering agent", 0)).status_code, 200);
  assert.ok(await needsApproval("/other"));

  await toInbox();
  await page.getByRole("navigation").getByRole("button", { name: "Secrets" }).click();
  const grant = page.getByTestId("grant");
  await grant.waitFor();
  assert.match(await grant.innerText(), /answering agent/);
  await grant.getByRole("button", { name: "Revoke" }).click();
  await grant.waitFor({ state: "detached" });
  await until(async () => await needsApproval("/wide?page=3") ? true : null, "The grant was not revoked.");
});

answerTest("a card that is open is not replaced by a newer one", async () => {
  const first = await opened("/first");
  const second = await house().ask(handle, "/second", "answering agent");
  await phone.page.waitForTimeout(1_500);
  assert.equal(await phone.words(), first.fingerprint);
  await toInbox();
  const waiting = await phone.page.getByTestId("pending").allInnerTexts();
  const at = (words: string) => waiting.findIndex((text) => text.includes(words));
  assert.ok(at(first.fingerprint) >= 0 && at(first.fingerprint) < at(second.fingerprint), "oldest first");
});

answerTest("a card that the agent takes back says so, and offers nothing to approve", async () => {
  const asked = await opened("/taken-back");
  await house().client.call("access.withdraw", { request_id: asked.id });
  await phone.screen("gone");
  assert.match(await phone.page.getByTestId("gone").innerText(), /took the request back. Nothing was sent/);
  assert.equal(await phone.page.getByRole("button", { name: "Approve" }).count(), 0);
});

answerTest("a passkey prompt that is cancelled approves nothing, and can be tried again", async () => {
  const asked = await opened("/cancelled");
  // A person who is not verified would block the virtual authenticator for good, so the prompt ends in the page.
  await phone.evaluate(`
    window.realGet = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = () => Promise.reject(new DOMException("cancelled", "NotAllowedError")); undefined`);
  await phone.press("Approve");
  await phone.page.getByRole("alert").filter({ hasText: "nothing was approved" }).waitFor();
  assert.equal(await status(asked.id, 0), "pending");
  await phone.evaluate("navigator.credentials.get = realGet; undefined");
  await phone.press("Approve");
  assert.equal(await status(asked.id), "granted");
});

answerTest("a passkey that gives another key approves nothing", async () => {
  const asked = await opened("/other-key");
  await phone.evaluate(`
    window.realGet = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = async (options) => {
      const credential = await realGet(options);
      const wrong = { prf: { results: { first: new Uint8Array(32).buffer, second: new Uint8Array(32).buffer } } };
      Object.defineProperty(credential, "getClientExtensionResults", { value: () => wrong });
      return credential;
    }; undefined`);
  await phone.press("Approve");
  await phone.page.getByRole("alert").first().waitFor();
  assert.equal(await status(asked.id, 0), "pending");
  await phone.evaluate("navigator.credentials.get = realGet; undefined");
  await phone.press("Approve");
  assert.equal(await status(asked.id), "granted");
});

answerTest("an approval that is given while the relay is down arrives when it is back", async () => {
  const h = house();
  const asked = await opened("/relay-down");
  await h.relay.stop();
  await phone.press("Approve");
  await phone.page.getByRole("button", { name: "Sending…" }).waitFor();
  assert.equal(await status(asked.id, 0), "pending");
  await h.startRelay();
  await until(async () => await status(asked.id, 5_000) === "granted" ? true : null, "It did not arrive.");
});

answerTest("Lock ends every grant", async () => {
  const asked = await opened("/lock");
  await phone.page.locator("details.allow summary").click();
  await phone.page.getByRole("radio", { name: /15 min, at most 100 times/ }).check();
  await phone.press("Approve");
  assert.equal(await status(asked.id), "granted");
  assert.equal((await house().http(handle, "/lock", "answering agent", 0)).status_code, 200);
  await toInbox();
  await phone.page.getByRole("navigation").getByRole("button", { name: "Settings" }).click();
  await phone.press("Lock now");
  await phone.page.getByRole("button", { name: "Lock now" }).last().click();
  await until(async () => await needsApproval("/lock") ? true : null, "The grant did not end.");
});

answerTest("a phone whose clock is a day ahead says so, and approves all the same", async () => {
  await phone.page.addInitScript("const now = Date.now; Date.now = () => now() + 86_400_000;");
  await phone.page.goto(house().origin);
  const asked = await opened("/clock");
  await phone.press("Approve");
  assert.equal(await status(asked.id), "granted");
  await toInbox();
  await phone.page.getByText(/clock and this phone's are \d+ min apart/).waitFor();
});
