/** From an agent's request to the notification on a sleeping phone. Only the push service is a stand-in. */

import assert from "node:assert/strict";
import type { BrowserContext } from "playwright-core";
import { PUSH_TEXT } from "../../relay/push_message.ts";
import { TestPushService, TestSubscription } from "../../relay/testing_push.ts";
import { until } from "../e2e/harness_wait.ts";
import type { BrowserPhone } from "./browser_phone.ts";
import { shareBrowserHouse, SHARED } from "./harness.ts";

const service = new TestPushService(201);
const house = shareBrowserHouse({ push: service });

Deno.test(
  "a phone that sleeps is woken by a push that says nothing, and shows one line (B128, B129)",
  SHARED,
  async () => {
    const h = house();
    const phone = await h.newPhone();
    const { page, context, cdp } = phone;
    const subscription = await TestSubscription.make();
    await context.grantPermissions(["notifications"], { origin: h.origin });
    // Chromium cannot subscribe without its vendor's service: the subscription is the test's, everything else is real.
    await page.addInitScript(`
    let subscribed = null;
    PushManager.prototype.getSubscription = async () => subscribed;
    PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
      if (userVisibleOnly !== true) throw new TypeError("every push must be visible");
      const json = ${JSON.stringify(subscription.toJSON())};
      subscribed = { options: { applicationServerKey: applicationServerKey.buffer }, toJSON: () => json };
      return subscribed;
    };
  `);
    const real = await canNotify(phone);
    if (!real) await page.addInitScript(GRANTED);
    const registered = Promise.withResolvers<string>();
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      for (const { scopeURL, registrationId } of registrations) {
        if (scopeURL === `${h.origin}/`) registered.resolve(registrationId);
      }
    });
    await cdp.send("ServiceWorker.enable");
    await h.pair(phone);
    const handle = await h.giveSecret(phone, "push-key");
    await page.getByRole("navigation").getByRole("button", { name: "Settings" }).click();
    await phone.press("Turn on");
    await page.getByText("This phone is woken when something waits.").waitFor();
    assert.equal(service.taken.length, 0);

    await page.goto("about:blank"); // asleep: nobody reads the mailbox
    await h.ask(handle, "/private/path?reason=secret", "push agent");
    await until(() => Promise.resolve(service.taken.length > 0 ? true : null), "No push was sent.");
    const [push] = service.taken;
    const text = await subscription.open(push!.body);
    assert.equal(text, PUSH_TEXT);
    assert.ok(push!.body.length < 3_000);

    if (!real) {
      await page.goto(h.origin);
      await noteNotifications(context);
    }
    await cdp.send("ServiceWorker.deliverPushMessage", {
      origin: h.origin,
      registrationId: await registered.promise,
      data: text,
    });
    if (real) await page.goto(h.origin);
    await page.getByTestId("pending").waitFor();
    const shown = await until(async () => {
      const found = await notifications(phone, real);
      return found.length > 0 ? found : null;
    }, "No notification is shown.");
    assert.deepEqual(shown, [{ title: "custos", body: "Something waits for you. Open custos to see it." }]);
    assert.deepEqual(phone.complaints, []);
    await phone[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  },
);

interface Shown {
  title: string;
  body: string;
}

/**
 * The npm package's Chromium is a shell without notifications, and ends a worker that sets a badge: there the page is told
 * that it may, and the worker notes what it would show.
 */
const GRANTED = `
  Object.defineProperty(Notification, "permission", { get: () => "granted" });
  Notification.requestPermission = async () => "granted";`;

async function canNotify(phone: BrowserPhone): Promise<boolean> {
  await phone.page.goto(phone.origin);
  const state = await phone.evaluate<string>("Notification.permission");
  await phone.page.goto("about:blank"); // what is added to the page counts from its next load on
  return state === "granted";
}

async function noteNotifications(context: BrowserContext): Promise<void> {
  await context.serviceWorkers()[0]!.evaluate(`
    self.noted = [];
    Object.defineProperty(Object.getPrototypeOf(navigator), "setAppBadge", { value: undefined });
    registration.showNotification = async (title, { body }) => void noted.push({ title, body });`);
}

async function notifications(phone: BrowserPhone, real: boolean): Promise<Shown[]> {
  if (!real) return await phone.context.serviceWorkers()[0]!.evaluate<Shown[]>("self.noted");
  return await phone.evaluate<Shown[]>(`navigator.serviceWorker.ready
    .then((r) => r.getNotifications()).then((all) => all.map(({ title, body }) => ({ title, body })))`);
}
