/**
 * The daemon of custos: keeps secrets sealed, asks a person's phone, and sends what was approved through a sandbox that
 * can reach only the secret's own hosts. It is an application; what other programs may use of it is in `@custos/rpc`.
 *
 * @module
 */

export { Daemon, type DaemonOptions } from "./daemon.ts";
export { VERSION } from "./version.ts";
