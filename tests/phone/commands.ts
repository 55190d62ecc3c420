/** What each command of the software phone does. Each returns an exit code; failures are thrown as `CustosError`. */

import { displayLine } from "@custos/core/display";
import { VALUE_BYTES } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import { decodeRecoverySheet } from "@custos/core/recovery_sheet";
import { type StoredCard, tokenHint } from "@custos/pwa";
import { SoftwareAuthenticator } from "./authenticator.ts";
import { FileStore } from "./file_store.ts";
import { dropFields, type Options } from "./options.ts";
import { cardText, jsonLine, showCard } from "./shown_card.ts";
import { type Answer, SoftwarePhone } from "./software_phone.ts";
import { note, readLine, readStdin, say } from "./terminal.ts";
import { watch } from "./watch.ts";

/** How long a command waits for the computer before it goes on with what the phone has, in milliseconds. */
const SYNC_MS = 5_000;

/** Runs one command. */
export async function runCommand(options: Options): Promise<number> {
  if (options.command === "pair") return await pairCommand(options);
  const store = new FileStore(options.state);
  const phone = await SoftwarePhone.open({ store, authenticator: await store.authenticator() });
  try {
    if (options.command === "watch") return await watchCommand(phone, options);
    if (!await phone.sync(SYNC_MS)) {
      note(
        "The computer did not answer. This is what the phone has; a decision will be sent when it is there.",
      );
    }
    switch (options.command) {
      case "cards":
        return await cardsCommand(phone, options);
      case "approve":
        return await approveCommand(phone, options);
      case "deny":
        return await denyCommand(phone, options);
      case "drop":
        return await dropCommand(phone, options);
      default:
        await phone.lock();
        say(options.json ? jsonLine({ locked: true }) : "Asked the computer to end every grant.");
        return 0;
    }
  } finally {
    await phone.close();
  }
}

async function pairCommand(options: Options): Promise<number> {
  const link = options.link!;
  const origin = URL.canParse(link) ? new URL(link).origin : "null";
  if (origin === "null") throw new CustosError("pairing_refused", "This is not a custos pairing link.");
  const store = new FileStore(options.state);
  if ((await store.daemons()).length > 0) {
    throw new CustosError("pairing_refused", "This phone is paired already. Use another --state folder.");
  }
  const authenticator = new SoftwareAuthenticator(origin);
  const phone = await SoftwarePhone.pair(link, {
    store,
    authenticator,
    ...(options.device_name === null ? {} : { device_name: options.device_name }),
    onWords: (words) => {
      say(options.json ? jsonLine({ words }) : `Words: ${words}`);
      note(`Type the first word into the computer's terminal: ${words.split(" ")[0]}`);
    },
    proveRecoverySheet: async (sheet) => {
      await store.keepPasskeys(origin, authenticator); // made by now, and needed from here on
      say(options.json ? jsonLine({ recovery_sheet: sheet }) : `Recovery sheet: ${sheet}`);
      return await proveSheet(sheet, options.yes_sheet);
    },
  });
  try {
    const { log, device } = await phone.record();
    const paired = { daemon: phone.daemon, daemon_name: log.state.daemon_name, device };
    say(options.json ? jsonLine({ paired }) : `Paired with ${displayLine(paired.daemon_name, 64)}.`);
    await phone.sync(SYNC_MS); // so that the computer has seen this phone before the command ends
    return 0;
  } finally {
    await phone.close();
  }
}

/** A person types the sheet again; `automatically`, the phone does. Three tries. */
async function proveSheet(sheet: string, automatically: boolean): Promise<boolean> {
  if (!automatically) {
    note("Write it down now. It is the only way back when this phone is lost. Type it again:");
  }
  for (let tries = 3; tries > 0; tries--) {
    const typed = automatically ? sheet.toLowerCase().replaceAll("-", " ") : await readLine();
    if (typed === null) return false;
    try {
      const [shown, again] = [await decodeRecoverySheet(sheet), await decodeRecoverySheet(typed)];
      if (shown.expose((a) => again.expose((b) => a.every((byte, at) => byte === b[at])))) return true;
      note("This is another sheet. Type the one shown above:");
    } catch (error) {
      note(error instanceof CustosError ? error.message : "This could not be read. Type it again:");
    }
  }
  return false;
}

async function watchCommand(phone: SoftwarePhone, { json }: Options): Promise<number> {
  const stop = new AbortController();
  const handler = () => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, handler);
  await watch(phone, json, stop.signal);
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.removeSignalListener(signal, handler);
  return 0;
}

async function cardsCommand(phone: SoftwarePhone, { json }: Options): Promise<number> {
  const record = await phone.record();
  const cards = await Promise.all((await phone.pending()).map((card) => showCard(record, card)));
  for (const card of cards) say(json ? jsonLine(card) : cardText(card));
  if (cards.length === 0 && !json) note("No card waits.");
  return 0;
}

async function approveCommand(phone: SoftwarePhone, options: Options): Promise<number> {
  const card = await chosen(phone, options, (type) => type !== "drop");
  const answer = await phone.approve(card.request_hash, options.offer ?? undefined);
  return report(answer, "granted", options, { grant: answer.grant });
}

async function denyCommand(phone: SoftwarePhone, options: Options): Promise<number> {
  const card = await chosen(phone, options, () => true);
  return report(await phone.deny(card.request_hash), "denied", options, {});
}

async function dropCommand(phone: SoftwarePhone, options: Options): Promise<number> {
  if (!options.drop.value_stdin) {
    throw new CustosError(
      "bad_request",
      "The value comes from stdin: add --value-stdin. It is never an argument.",
    );
  }
  const card = await chosen(phone, options, (type) => type === "drop");
  const { doc } = card.message;
  const fields = dropFields(options.drop, "name" in doc ? doc.name : "");
  const value = await readStdin(VALUE_BYTES.max + 16);
  const hint = tokenHint(new TextDecoder().decode(value.subarray(0, 32)), fields.origins);
  if (hint !== null) note(`Warning: ${hint}`);
  if (fields.private_network) {
    note("Warning: this secret may be sent to private addresses or over plain http.");
  }
  const answer = await phone.drop(card.request_hash, fields, value);
  for (const notice of answer.dropped.notices) note(notice);
  return report(answer, "delivered", options, { handle: `custos:${fields.name}` });
}

/** The card of `--request`, else the only pending one that this command can answer. */
async function chosen(
  phone: SoftwarePhone,
  options: Options,
  fits: (type: string) => boolean,
): Promise<StoredCard> {
  if (options.request !== null) return await phone.find(options.request);
  const cards = (await phone.pending()).filter((card) => fits(card.message.doc.type));
  if (cards.length === 1) return cards[0]!;
  if (cards.length === 0) throw new CustosError("unknown_request", "No card waits for this answer.");
  const list = cards.map((card) =>
    `  --request ${card.message.doc.id}   ${card.words}   ${card.message.doc.type}`
  );
  throw new CustosError("bad_request", `${cards.length} cards wait. Choose one:\n${list.join("\n")}`);
}

/** Says how it ended. 0 when it ended as `wanted`, 4 when it ended in another way, 5 while the computer has not said. */
function report(
  answer: Answer,
  wanted: StoredCard["status"],
  options: Options,
  more: Record<string, unknown>,
): number {
  const { request_id, fingerprint, status } = answer;
  if (options.json) say(jsonLine({ request_id, fingerprint, status, ...more }));
  else say(`${fingerprint}: ${status ?? "sent, not confirmed yet"} (request ${request_id})`);
  if (status === null) return 5;
  return status === wanted ? 0 : 4;
}
