import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { withSealingKeys } from "../../../scripts/serve/sealing-key.ts";
import { refuseInvalidVars } from "../../../scripts/serve/vars.ts";
import { makeDirectory } from "../support/temporary.ts";

describe("withSealingKeys", () => {
  it("generates a key that the Worker accepts, and keeps it for the next start", () => {
    const data = makeDirectory();

    const vars = withSealingKeys({ APP_NAME: "a" }, data);
    expect(vars).toEqual({
      APP_NAME: "a",
      SEALING_KEYS: expect.stringMatching(/^local:[0-9A-Za-z+/]{43}=$/),
    });
    refuseInvalidVars(vars);
    expect(withSealingKeys({ APP_NAME: "a" }, data)).toEqual(vars);
    expect(withSealingKeys({}, makeDirectory())).not.toEqual({
      SEALING_KEYS: vars["SEALING_KEYS"],
    });
  });

  // SECURITY: the key decrypts every secret.
  it("makes the key unreadable for other users of the machine", () => {
    const data = makeDirectory();
    withSealingKeys({}, data);
    expect(statSync(join(data, "sealing-keys")).mode & 0o777).toBe(0o600);
  });

  it("does not change the operator's own keys", () => {
    const data = makeDirectory();
    writeFileSync(join(data, "sealing-keys"), "local:stored\n");
    const vars = { SEALING_KEYS: "mine:key" };
    expect(withSealingKeys(vars, data)).toBe(vars);
    expect(readFileSync(join(data, "sealing-keys"), "utf8")).toBe("local:stored\n");
  });
});
