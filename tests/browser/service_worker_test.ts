/** The app as an installed one: offline, updated on a person's word, and with today's policy. */

import assert from "node:assert/strict";
import { ASSETS } from "../../pwa/assets.ts";
import type { BrowserPhone } from "./browser_phone.ts";
import { shareBrowserHouse, SHARED } from "./harness.ts";
import { MARK, otherBuild, serveBuild } from "./other_build.ts";

const house = shareBrowserHouse();

/** A browser that has opened the app once, and in which the worker serves it. */
async function opened(): Promise<BrowserPhone> {
  const h = house();
  const phone = await h.newPhone();
  await phone.page.goto(h.origin);
  await phone.screen("not-paired");
  await phone.worked();
  await phone.screen("not-paired");
  return phone;
}

const styleOf = (phone: BrowserPhone) => phone.evaluate<string>("fetch('style.css').then((r) => r.text())");
/** Looks for a new build, and waits until it is installed or was refused. */
const lookForUpdate = (phone: BrowserPhone) =>
  phone.evaluate<string>(`navigator.serviceWorker.ready.then(async (registration) => {
    await registration.update().catch(() => {});
    const worker = registration.installing ?? registration.waiting;
    if (worker === null) return "redundant";
    await new Promise((resolve) => {
      const look = () => worker.state !== "installing" && resolve();
      worker.addEventListener("statechange", look);
      look();
    });
    return worker.state;
  })`);

Deno.test("the app opens without its server, and only the shell is kept", SHARED, async () => {
  const h = house();
  await using phone = await opened();
  await h.pwa.stop();
  try {
    await phone.page.reload();
    await phone.screen("not-paired");
    await phone.press("Pair with a computer");
    await phone.screen("pair"); // a screen that is loaded later is kept too
    const kept = await phone.evaluate<string[]>(`(async () => {
      const names = [];
      for (const key of await caches.keys()) for (const { url } of await (await caches.open(key)).keys()) names.push(url);
      return names;
    })()`);
    const files = Object.keys(ASSETS).filter((name) => name !== "sw.js" && name !== "manifest.json");
    assert.deepEqual(
      kept.map((url) => url.slice(h.origin.length + 1)).sort(),
      [...files, "config.json"].sort(),
    );
  } finally {
    await h.startPwa();
  }
});

Deno.test("a new build waits until a person presses Update", SHARED, async () => {
  const h = house();
  await using phone = await opened();
  await h.pwa.stop();
  try {
    await using _server = serveBuild(h.values.pwa_port, [h.relay_url], await otherBuild());
    assert.equal(await lookForUpdate(phone), "installed");
    await phone.page.getByText("A new version is ready.").waitFor();
    assert.deepEqual(await phone.axe(), []);
    await phone.page.reload();
    assert.ok(!(await styleOf(phone)).includes(MARK), "a reload is not a word");
    await phone.page.getByText("A new version is ready.").waitFor();
    await Promise.all([phone.page.waitForEvent("load"), phone.press("Update")]);
    await phone.screen("not-paired");
    assert.ok((await styleOf(phone)).includes(MARK));
    assert.equal(await phone.page.getByText("A new version is ready.").count(), 0);
  } finally {
    await h.startPwa();
  }
});

Deno.test("a build whose files are not the ones that it names is not installed", SHARED, async () => {
  const h = house();
  await using phone = await opened();
  await h.pwa.stop();
  try {
    await using _server = serveBuild(h.values.pwa_port, [h.relay_url], await otherBuild(false));
    assert.equal(await lookForUpdate(phone), "redundant");
    await phone.page.reload();
    await phone.screen("not-paired");
    assert.equal(await phone.page.getByText("A new version is ready.").count(), 0);
    assert.ok(!(await styleOf(phone)).includes(MARK));
  } finally {
    await h.startPwa();
  }
});

Deno.test("a page that is kept has the policy of today: a relay that moved is reached", SHARED, async () => {
  const h = house();
  await using phone = await opened();
  await h.pwa.stop();
  try {
    const moved = "http://127.0.0.1:9";
    await using _server = serveBuild(h.values.pwa_port, [moved], ASSETS);
    await phone.page.reload();
    await phone.screen("not-paired");
    assert.equal(await refusedByPolicy(phone, moved), false);
    assert.equal(await refusedByPolicy(phone, h.relay_url), true);
  } finally {
    await h.startPwa();
  }
});

/** Whether the page's policy keeps it from an address, reachable or not. The page itself asks, not the debugger. */
async function refusedByPolicy(phone: BrowserPhone, origin: string): Promise<boolean> {
  return await phone.evaluate<boolean>(`new Promise((resolve) => {
    let refused = false;
    const note = ({ blockedURI }) => { refused ||= blockedURI.startsWith(${JSON.stringify(origin)}); };
    addEventListener("securitypolicyviolation", note);
    fetch(${JSON.stringify(origin)} + "/healthz").catch(() => {}).finally(() => setTimeout(() => {
      removeEventListener("securitypolicyviolation", note);
      resolve(refused);
    }, 100));
  })`);
}

Deno.test(
  "the app cannot be framed, and no script or message from elsewhere does anything (B131)",
  SHARED,
  async () => {
    const h = house();
    await using phone = await h.newPhone();
    const other = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () =>
        new Response(`<!doctype html><iframe src="${h.origin}/"></iframe>`, {
          headers: { "content-type": "text/html" },
        }),
    );
    try {
      await phone.page.goto(`http://127.0.0.1:${other.addr.port}/`);
      await phone.page.waitForLoadState("networkidle");
      const frame = phone.page.frames().at(-1)!;
      assert.equal(await frame.getByTestId("not-paired").count(), 0);
      assert.match(phone.complaints.join(), /frame-ancestors/);
    } finally {
      await other.shutdown();
    }
  },
);
