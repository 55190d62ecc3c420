import assert from "node:assert/strict";
import { BodyOutput } from "./body_output.ts";
import type { Io } from "./io.ts";

async function shown(chunks: Uint8Array[], terminal: boolean): Promise<{ bytes: number[]; binary: boolean }> {
  const bytes: number[] = [];
  const io = {
    terminals: { stdin: false, stdout: terminal, stderr: false },
    out(data: string | Uint8Array) {
      bytes.push(...(typeof data === "string" ? new TextEncoder().encode(data) : data));
      return Promise.resolve();
    },
  } as unknown as Io;
  const output = new BodyOutput(io);
  for (const chunk of chunks) await output.write(chunk);
  await output.end();
  return { bytes, binary: output.binary };
}
const text = (bytes: number[]) => new TextDecoder().decode(Uint8Array.from(bytes));
const utf8 = (value: string) => new TextEncoder().encode(value);

Deno.test("BodyOutput writes every byte into a file as it came (B81)", async () => {
  const all = Uint8Array.from({ length: 256 }, (_, value) => value);
  assert.deepEqual((await shown([all, all], false)).bytes, [...all, ...all]);
});

Deno.test("BodyOutput lets no control character of a server reach a terminal (B103, B104)", async () => {
  const evil = "ok\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u0085\u009b31m\u202etxt\u200b\ttab\r\nnext\rlast";
  for (const size of [1, 2, 3, 1_000]) {
    const bytes = utf8(evil);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
    const got = text((await shown(chunks, true)).bytes);
    assert.ok(!/(?![\n\t])[\p{Cc}\p{Cf}]/u.test(got), JSON.stringify(got));
    assert.match(got, /^ok\\u\{1b\}\[2J/);
    assert.ok(got.endsWith("\ttab\nnext\\u{d}last\n"), JSON.stringify(got));
  }
});

Deno.test("BodyOutput shows no binary on a terminal, and ends text with one line feed", async () => {
  const binary = await shown([Uint8Array.of(65, 0, 66)], true);
  assert.deepEqual(binary, { bytes: [], binary: true });
  assert.equal(text((await shown([utf8("{}")], true)).bytes), "{}\n");
  assert.equal(text((await shown([utf8("{}\n")], true)).bytes), "{}\n");
  assert.equal(text((await shown([], true)).bytes), "");
});
