/**
 * A push service and a browser's subscription for tests: the service records what it is sent and answers as it is told;
 * the subscription opens it (RFC 8291 §3.4, RFC 8188 §2), written from the RFCs and not with the library under test.
 */

/** What the service got. */
export interface TakenPush {
  path: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

/** What the service answers: a status, with headers if need be; `"silence"`: nothing. */
export type PushAnswer = number | { status: number; headers: Record<string, string> } | "silence";

/** A push service on loopback. Answers are taken in turn; the last one stays. */
export class TestPushService implements AsyncDisposable {
  readonly taken: TakenPush[] = [];
  readonly #answers: PushAnswer[];
  readonly #ended: AbortController = new AbortController();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(...answers: PushAnswer[]) {
    this.#answers = answers.length === 0 ? [201] : answers;
    const { signal } = this.#ended;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, signal, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  /** Brings a request for any endpoint here: subscriptions name public hosts only. */
  readonly fetch = (url: string, init: RequestInit): Promise<Response> => {
    const { hostname, pathname } = new URL(url);
    return fetch(`http://127.0.0.1:${this.#server.addr.port}/${hostname}${pathname}`, init);
  };

  async #answer(request: Request): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer());
    this.taken.push({ path: new URL(request.url).pathname, headers: request.headers, body });
    const answer = this.#answers.length > 1 ? this.#answers.shift()! : this.#answers[0]!;
    if (answer === "silence") {
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      return new Response(null, { status: 500 });
    }
    const { status, headers } = typeof answer === "number" ? { status: answer, headers: {} } : answer;
    return new Response(null, { status, headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#server.finished;
  }
}

const encoder = new TextEncoder();

/** A browser's side of a subscription. */
export class TestSubscription {
  private constructor(
    readonly endpoint: string,
    readonly keys: { p256dh: string; auth: string },
    readonly secret: CryptoKey,
  ) {}

  /** A new one at a service. */
  static async make(endpoint = "https://fcm.googleapis.com/fcm/send/one"): Promise<TestSubscription> {
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, [
      "deriveBits",
    ]);
    const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
    const auth = crypto.getRandomValues(new Uint8Array(16));
    return new TestSubscription(endpoint, { p256dh: text64(point), auth: text64(auth) }, pair.privateKey);
  }

  /** One with known keys. `d` is the private scalar, base64url. */
  static async of(keys: { p256dh: string; auth: string }, d: string): Promise<TestSubscription> {
    const point = bytes64(keys.p256dh);
    const jwk = { kty: "EC", crv: "P-256", x: text64(point.slice(1, 33)), y: text64(point.slice(33)), d };
    const secret = await crypto.subtle.importKey("jwk", jwk, { name: "ECDH", namedCurve: "P-256" }, false, [
      "deriveBits",
    ]);
    return new TestSubscription("https://fcm.googleapis.com/fcm/send/known", keys, secret);
  }

  /** As a relay is told of it. */
  toJSON(): { endpoint: string; keys: { p256dh: string; auth: string } } {
    return { endpoint: this.endpoint, keys: this.keys };
  }

  /** Opens what was pushed. Throws where it was not for this subscription. */
  async open(body: Uint8Array<ArrayBuffer>): Promise<string> {
    const [salt, sender, sealed] = [body.slice(0, 16), body.slice(21, 86), body.slice(86)];
    if (body[20] !== 65) throw new Error("The sender's key is not a point.");
    const ecdh = { name: "ECDH", namedCurve: "P-256" };
    const key = await crypto.subtle.importKey("raw", sender, ecdh, false, []);
    const shared = new Uint8Array(
      await crypto.subtle.deriveBits({ name: "ECDH", public: key }, this.secret, 256),
    );
    const info = join(encoder.encode("WebPush: info\0"), bytes64(this.keys.p256dh), sender);
    const ikm = await hkdf(shared, bytes64(this.keys.auth), info, 32);
    const content = await hkdf(ikm, salt, encoder.encode("Content-Encoding: aes128gcm\0"), 16);
    const nonce = await hkdf(ikm, salt, encoder.encode("Content-Encoding: nonce\0"), 12);
    const aes = await crypto.subtle.importKey("raw", content, "AES-GCM", false, ["decrypt"]);
    const plain = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv: nonce }, aes, sealed));
    const end = plain.lastIndexOf(2); // the delimiter of the last record, then padding
    if (end < 0 || plain.slice(end + 1).some((byte) => byte !== 0)) throw new Error("The record has no end.");
    return new TextDecoder().decode(plain.slice(0, end));
  }
}

/** The claims of a `vapid t=…, k=…` header, once its signature is right. Throws where it is not. */
export async function vapidClaims(header: string): Promise<Record<string, unknown> & { key: string }> {
  const [, token, key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? [];
  const [head, claims, signature] = token!.split(".");
  const ecdsa = { name: "ECDSA", namedCurve: "P-256" };
  const point = await crypto.subtle.importKey("raw", bytes64(key!), ecdsa, false, ["verify"]);
  const signed = encoder.encode(`${head}.${claims}`);
  const right = await crypto.subtle.verify(
    { name: "ECDSA", hash: "SHA-256" },
    point,
    bytes64(signature!),
    signed,
  );
  if (!right) throw new Error("The VAPID signature is wrong.");
  return { ...JSON.parse(new TextDecoder().decode(bytes64(claims!))), key: key! };
}

async function hkdf(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(
    await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, length * 8),
  );
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function text64(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function bytes64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
