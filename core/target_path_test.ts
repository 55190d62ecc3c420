import assert from "node:assert/strict";
import { withinPrefix } from "./target_path.ts";

const UNDER: [prefix: string, path: string, under: boolean][] = [
  ["/v1/user", "/v1/user", true],
  ["/v1/user", "/v1/user/1", true],
  ["/v1/user", "/v1/user/", true],
  ["/v1/user/", "/v1/user/1", true],
  ["/", "/anything", true],
  // B20
  ["/v1/user", "/v1/users", false],
  ["/v1/user", "/v1/user-admin", false],
  ["/v1/user", "/v1/user%2f1", false],
  ["/v1/user", "/v1/user;x", false],
  ["/v1/user", "/v1/use", false],
  ["/v1/user", "/V1/user", false],
  ["/v1/user/", "/v1/user", false],
  ["/v1/*", "/v1/admin", false],
  ["/v1/user", "/x/v1/user", false],
];

for (const [prefix, path, under] of UNDER) {
  Deno.test(`withinPrefix() says that ${path} is ${under ? "" : "not "}under ${prefix}`, () => {
    assert.equal(withinPrefix(path, prefix), under);
  });
}
