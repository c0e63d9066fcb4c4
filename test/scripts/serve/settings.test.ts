import { describe, expect, it } from "vitest";

import { describeSettings, parseSettings } from "../../../scripts/serve/settings.ts";
import {
  describeVars,
  overlayVars,
  refuseInvalidVars,
  variableNames,
} from "../../../scripts/serve/vars.ts";

describe("parseSettings", () => {
  it("has a default for every setting", () => {
    expect(parseSettings({})).toMatchObject({
      host: "127.0.0.1",
      port: 8787,
      processes: 1,
      administrator: { name: "root", password: undefined, email: "root@edgeforge.localhost" },
    });
  });

  it.each(["-1", "65536", "80a", "8 0", "0x50"])("refuses the port %s", (port) => {
    expect(() => parseSettings({ EDGEFORGE_PORT: port })).toThrow("EDGEFORGE_PORT must be");
  });

  it.each(["0", "-1", "65", "two", "1.5"])("refuses %s processes", (processes) => {
    expect(() => parseSettings({ EDGEFORGE_PROCESSES: processes })).toThrow(
      "EDGEFORGE_PROCESSES must be a whole number from 1 to 64",
    );
  });

  it("takes the first administrator of Cloudflare's variables, unless its own name one", () => {
    const vars = { FIRST_ADMIN_USER: "ada", FIRST_ADMIN_PASSWORD: "p", FIRST_ADMIN_EMAIL: "a@b.c" };
    expect(parseSettings({}, vars).administrator).toEqual({
      name: "ada",
      password: "p",
      email: "a@b.c",
    });
    expect(parseSettings({ EDGEFORGE_ADMIN_USER: "bob" }, vars).administrator.name).toBe("bob");
  });

  it("refuses names that it does not know", () => {
    expect(() => parseSettings({ EDGEFORGE_HOSTS: "::" })).toThrow(
      /^EDGEFORGE_HOSTS is no setting: .*EDGEFORGE_HOST, EDGEFORGE_PORT, EDGEFORGE_DATA,/,
    );
    expect(() => parseSettings({ EDGEFORGE_REQUIRE_SIGNIN_VIEW: "true" })).toThrow(
      "EDGEFORGE_REQUIRE_SIGNIN_VIEW is no setting: the setting's name is REQUIRE_SIGNIN_VIEW",
    );
  });
});

describe("overlayVars", () => {
  it("takes every variable of the Worker from the environment, and nothing else", () => {
    const env = Object.fromEntries(variableNames.map((name) => [name, `new ${name}`]));
    expect(variableNames).toContain("REQUIRE_SIGNIN_VIEW");

    const vars = overlayVars({ APP_NAME: "Forge" }, { ...env, HOME: "/home", PATH: "/bin" });

    expect(vars).toEqual(env);
    expect(overlayVars({ APP_NAME: "Forge" }, { HOME: "/home" })).toEqual({ APP_NAME: "Forge" });
  });
});

describe("refuseInvalidVars", () => {
  it("names the variable and what it allows, in one line", () => {
    expect(() => refuseInvalidVars({ REQUIRE_SIGNIN_VIEW: "yes" })).toThrow(
      /^invalid setting: .*REQUIRE_SIGNIN_VIEW must be true or false$/,
    );
  });
});

describe("the settings that a start prints", () => {
  it("are those that differ from the defaults", () => {
    const vars = {
      APP_NAME: "Edgeforge",
      DEFAULT_BRANCH: "trunk",
      REQUIRE_SIGNIN_VIEW: "true",
      ALLOWED_HOST_LIST: "external, loopback",
    };
    expect(describeVars(vars, { ALLOWED_HOST_LIST: "external, loopback" })).toEqual([
      'setting: REQUIRE_SIGNIN_VIEW="true"',
      'setting: DEFAULT_BRANCH="trunk"',
    ]);
    expect(describeVars({ ALLOWED_HOST_LIST: "*.example" }, {})).toEqual([
      'setting: ALLOWED_HOST_LIST="*.example"',
    ]);
    expect(describeVars({}, {})).toEqual([]);
    expect(describeSettings({})).toEqual([]);
    expect(describeSettings({ EDGEFORGE_HOST: "", EDGEFORGE_PORT: "8787", HOME: "/" })).toEqual([]);
    expect(describeSettings({ EDGEFORGE_HOST: "0.0.0.0" })).toEqual([
      'setting: EDGEFORGE_HOST="0.0.0.0"',
    ]);
  });

  // SECURITY: the output of a start is kept in logs.
  it("show no value of a secret", () => {
    const key = "A".repeat(43);
    const vars = { SEALING_KEYS: `one:${key}=`, FIRST_ADMIN_PASSWORD: "hunter2" };
    const env = { EDGEFORGE_ADMIN_PASSWORD: "hunter2" };
    expect([...describeVars(vars, {}), ...describeSettings(env)]).toEqual([
      "setting: FIRST_ADMIN_PASSWORD (a secret)",
      "setting: SEALING_KEYS (a secret)",
      "setting: EDGEFORGE_ADMIN_PASSWORD (a secret)",
    ]);
  });

  it("show no control characters", () => {
    expect(describeVars({ APP_NAME: "a\u001b[2J\nb" }, {})).toEqual([
      'setting: APP_NAME="a\\u001b[2J\\nb"',
    ]);
  });
});
