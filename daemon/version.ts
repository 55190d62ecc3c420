/** The version of the daemon; the same in every member (`deno task ok` compares). */
export const VERSION = "0.1.0";
