/** From an agent's request to the notification on a sleeping phone. Only the push service is a stand-in. */

import assert from "node:assert/strict";
import { PUSH_TEXT } from "../../relay/push_message.ts";
import { TestPushService, TestSubscription } from "../../relay/testing_push.ts";
import { until } from "../e2e/harness_wait.ts";
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

    await cdp.send("ServiceWorker.deliverPushMessage", {
      origin: h.origin,
      registrationId: await registered.promise,
      data: text,
    });
    await page.goto(h.origin);
    await page.getByTestId("pending").waitFor();
    const shown = await until(async () => {
      const found = await phone.evaluate<{ title: string; body: string }[]>(`navigator.serviceWorker.ready
      .then((r) => r.getNotifications()).then((all) => all.map(({ title, body }) => ({ title, body })))`);
      return found.length > 0 ? found : null;
    }, "No notification is shown.");
    assert.deepEqual(shown, [{ title: "custos", body: "Something waits for you. Open custos to see it." }]);
    assert.deepEqual(phone.complaints, []);
    await phone[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  },
);
