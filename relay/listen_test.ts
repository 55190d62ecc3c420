import assert from "node:assert/strict";
import { type Handler, listen, parsePlace } from "./listen.ts";
import { StartError } from "./start_error.ts";

const hello: Handler = () => Promise.resolve(new Response("hello"));
const refused = (kind: StartError["kind"], reason: RegExp) => (error: unknown) =>
  error instanceof StartError && error.kind === kind && reason.test(error.message);

Deno.test("parsePlace() reads TCP addresses and unix sockets", () => {
  assert.deepEqual(parsePlace("127.0.0.1:8787"), { hostname: "127.0.0.1", port: 8787 });
  assert.deepEqual(parsePlace("[::1]:0"), { hostname: "::1", port: 0 });
  assert.deepEqual(parsePlace("localhost:65535"), { hostname: "localhost", port: 65535 });
  assert.deepEqual(parsePlace("unix:/run/custos/relay.sock"), { path: "/run/custos/relay.sock" });
});

for (
  const text of [
    "",
    "8787",
    "127.0.0.1",
    "127.0.0.1:65536",
    ":8787",
    "::1:8787",
    "unix:relay.sock",
    "http://a:1",
  ]
) {
  Deno.test(`parsePlace() refuses "${text}"`, () => {
    assert.throws(() => parsePlace(text), refused("usage", /--listen takes/));
  });
}

Deno.test("listen() says where it listens, and why it cannot", async () => {
  const first = await listen({ hostname: "127.0.0.1", port: 0 }, hello);
  assert.match(first.address, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(await (await fetch(first.address)).text(), "hello");
  const taken = { hostname: "127.0.0.1", port: Number(new URL(first.address).port) };
  await assert.rejects(
    listen(taken, hello),
    refused("listen", /Cannot listen on 127.0.0.1:\d+ \(AddrInUse\)/),
  );
  await first.stop(1000);
  await assert.rejects(fetch(first.address));
});

Deno.test("Listening.stop() cuts off what does not end in its time", async () => {
  const place = await listen({ hostname: "127.0.0.1", port: 0 }, (request) => {
    return Promise.resolve(new Response(request.body)); // echoes for as long as the client sends
  });
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
  const endless = await fetch(place.address, { method: "POST", body });
  await place.stop(20);
  await assert.rejects(endless.bytes());
});

/** Unix sockets need a permission that names their path, which a test cannot know: these run under `--allow-net`. */
const unixTest = (name: string, body: (path: string) => Promise<void>) =>
  Deno.test({
    name,
    ignore: Deno.permissions.querySync({ name: "net" }).state !== "granted",
    fn: async () => {
      const folder = await Deno.makeTempDir();
      try {
        await body(`${folder}/relay.sock`);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });

unixTest(
  "listen() serves a unix socket that only its owner can open, and removes it at the end",
  async (path) => {
    const place = await listen({ path }, hello);
    assert.equal(place.address, `unix:${path}`);
    assert.equal(Deno.statSync(path).mode! & 0o777, 0o600);
    using client = Deno.createHttpClient({ proxy: { transport: "unix", path } });
    assert.equal(await (await fetch("http://custos.invalid/", { client })).text(), "hello");
    await place.stop(1000);
    assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
  },
);

unixTest("listen() refuses a socket that somebody listens on", async (path) => {
  const place = await listen({ path }, hello);
  await assert.rejects(listen({ path }, hello), refused("listen", /Another process/));
  await place.stop(1000);
});

unixTest("listen() takes the place of a socket that was left over", async (path) => {
  const left = Deno.listen({ transport: "unix", path });
  await Deno.rename(path, `${path}.kept`); // closing would remove it
  left.close();
  await Deno.rename(`${path}.kept`, path);
  const place = await listen({ path }, hello);
  await place.stop(1000);
});

unixTest("listen() does not remove a file", async (path) => {
  await Deno.writeTextFile(path, "precious");
  await assert.rejects(listen({ path }, hello), refused("listen", /not a socket/));
  assert.equal(await Deno.readTextFile(path), "precious");
});
