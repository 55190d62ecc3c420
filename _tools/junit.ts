/** Counts from the JUnit file that `deno test --junit-path` writes. Steps count as tests of their own. */

/** What a test run came to. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** Names of tests that were not run, as `file: name`. */
  readonly ignored: readonly string[];
}

/**
 * Reads a JUnit file of Deno 2.9. An error outside any test (a module that throws) is not in it: the exit code knows of
 * that, and the caller must look at it.
 */
export function countJunit(xml: string): Counts {
  let passed = 0;
  let failed = 0;
  const ignored: string[] = [];
  for (const [, attributes = "", body = ""] of xml.matchAll(/<testcase ([^>]*)>([\s\S]*?)<\/testcase>/g)) {
    if (/<(failure|error)[\s>/]/.test(body)) failed++;
    else if (/<skipped\b/.test(body)) {
      ignored.push(`${attribute(attributes, "classname")}: ${attribute(attributes, "name")}`);
    } else passed++;
  }
  return { passed, failed, ignored };
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return value.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll(
    "&apos;",
    "'",
  )
    .replaceAll("&amp;", "&");
}
