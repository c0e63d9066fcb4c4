import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { withStoredSecrets } from "../../../scripts/serve/stored-secrets.ts";
import { refuseInvalidVars } from "../../../scripts/serve/vars.ts";
import { makeDirectory } from "../support/temporary.ts";

describe("withStoredSecrets", () => {
  it("makes secrets that the Worker accepts, and keeps them for the next start", () => {
    const data = makeDirectory();

    const vars = withStoredSecrets({ APP_NAME: "a" }, data);
    expect(vars).toEqual({
      APP_NAME: "a",
      SEALING_KEYS: expect.stringMatching(/^local:[0-9A-Za-z+/]{43}=$/),
      OAUTH_SIGNING_KEYS: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----\n/),
    });
    refuseInvalidVars(vars);
    expect(withStoredSecrets({ APP_NAME: "a" }, data)).toEqual(vars);
    const others = withStoredSecrets({}, makeDirectory());
    expect(others["SEALING_KEYS"]).not.toEqual(vars["SEALING_KEYS"]);
    expect(others["OAUTH_SIGNING_KEYS"]).not.toEqual(vars["OAUTH_SIGNING_KEYS"]);
  });

  // SECURITY: the keys decrypt every secret, and sign in as everybody elsewhere.
  it.each(["sealing-keys", "oauth-signing-keys"])(
    "makes %s unreadable for other users of the machine",
    (file) => {
      const data = makeDirectory();
      withStoredSecrets({}, data);
      expect(statSync(join(data, file)).mode & 0o777).toBe(0o600);
    },
  );

  it("does not change the operator's own keys", () => {
    const data = makeDirectory();
    writeFileSync(join(data, "sealing-keys"), "local:stored\n");
    const vars = { SEALING_KEYS: "mine:key", OAUTH_SIGNING_KEYS: "mine" };
    expect(withStoredSecrets(vars, data)).toEqual(vars);
    expect(readFileSync(join(data, "sealing-keys"), "utf8")).toBe("local:stored\n");
  });
});
