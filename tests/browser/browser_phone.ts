/** One browser as a phone: its own storage, a passkey authenticator with PRF, and everything that the page complained of. */

import axe from "axe-core";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";

/** The authenticator of FACTS: a platform passkey that verifies the person and answers by itself. */
const AUTHENTICATOR = {
  protocol: "ctap2",
  ctap2Version: "ctap2_1",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  hasPrf: true,
  automaticPresenceSimulation: true,
} as const;

/** How a phone differs from the usual one. */
export interface PhoneOptions {
  prf?: boolean;
  width?: number;
  height?: number;
  dark?: boolean;
  /** Pixels of the screen to one of the page. */
  scale?: number;
}

/** What axe found, in one line each. */
type Violation = {
  id: string;
  impact: string | null;
  nodes: { target: unknown[]; failureSummary?: string }[];
};

/** A phone. */
export class BrowserPhone implements AsyncDisposable {
  /** Errors of the console and of scripts, among them everything that the page's policy refused. */
  readonly complaints: string[] = [];

  private constructor(
    readonly origin: string,
    readonly context: BrowserContext,
    readonly page: Page,
    readonly cdp: CDPSession,
    readonly authenticator: string,
  ) {
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
  }

  /** A new one, on no page yet. */
  static async open(browser: Browser, origin: string, options: PhoneOptions = {}): Promise<BrowserPhone> {
    const { width = 360, height = 640 } = options;
    const context = await browser.newContext({
      viewport: { width, height },
      deviceScaleFactor: options.scale ?? 1,
      colorScheme: options.dark === true ? "dark" : "light",
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    const cdp = await context.newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: { ...AUTHENTICATOR, hasPrf: options.prf !== false },
    });
    return new BrowserPhone(origin, context, page, cdp, authenticatorId);
  }

  /** A screen by the name that its frame has; waits for it. */
  async screen(name: string): Promise<void> {
    await this.page.getByTestId(name).waitFor();
  }

  /** A button by its words. */
  async press(name: string | RegExp): Promise<void> {
    await this.page.getByRole("button", { name, exact: typeof name === "string" }).click();
  }

  /** The three words on the screen. */
  async words(): Promise<string> {
    const words = this.page.locator(".words");
    await words.waitFor();
    return (await words.innerText()).trim().toLowerCase().split(/\s+/).join(" ");
  }

  /** Resolves once the service worker serves this page; the first load is without it. */
  async worked(): Promise<void> {
    await this.evaluate("navigator.serviceWorker.ready.then(() => {})");
    await this.page.reload();
    await this.page.waitForLoadState("networkidle");
    if (await this.evaluate("navigator.serviceWorker.controller === null")) {
      throw new Error("The service worker does not serve the page.");
    }
  }

  /** The value of an expression in the page; a promise is waited for. The page's own policy does not hold for it. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.cdp.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails === undefined) return result.value as T;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }

  /** What axe finds on the present screen: nothing, where all is well. */
  async axe(): Promise<string[]> {
    await this.evaluate(`${axe.source};undefined`);
    const { violations } = await this.evaluate<{ violations: Violation[] }>(
      "axe.run(document, {resultTypes: ['violations']})",
    );
    return violations.map(({ id, impact, nodes }) =>
      `${id} (${impact}): ${nodes.map(({ target }) => target.join(" ")).join(", ")}`
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }
}
