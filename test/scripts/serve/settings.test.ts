import { describe, expect, it } from "vitest";

import { parseSettings } from "../../../scripts/serve/settings.ts";
import { overlayVars } from "../../../scripts/serve/vars.ts";

describe("parseSettings", () => {
  it("has a default for every setting", () => {
    expect(parseSettings({})).toMatchObject({
      host: "127.0.0.1",
      port: 8787,
      administrator: { name: "root", password: undefined, email: "root@edgeforge.localhost" },
    });
  });

  it.each(["-1", "65536", "80a", "8 0", "0x50"])("refuses the port %s", (port) => {
    expect(() => parseSettings({ EDGEFORGE_PORT: port })).toThrow("EDGEFORGE_PORT must be");
  });
});

describe("overlayVars", () => {
  it("takes only variables and secrets of wrangler.toml from the environment", () => {
    const env = { PAGE_SIZE: "10", SECRET: "s", HOME: "/home" };

    const vars = overlayVars({ PAGE_SIZE: "50", TITLE: "Forge" }, ["SECRET", "ABSENT"], env);

    expect(vars).toEqual({ PAGE_SIZE: "10", TITLE: "Forge", SECRET: "s" });
  });
});
