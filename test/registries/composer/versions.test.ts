import { describe, expect, it } from "vitest";

import { isDevVersion, normalizeVersion } from "../../../src/registries/composer/versions.ts";

describe("a version", () => {
  it.each([
    ["1", "1.0.0.0"],
    ["v1.2", "1.2.0.0"],
    ["1.2.3", "1.2.3.0"],
    ["1.2.3.4", "1.2.3.4"],
    ["1.0.0RC1dev", "1.0.0.0-RC1-dev"],
    ["1.0.0-rC15-dev", "1.0.0.0-RC15-dev"],
    ["1.0.0-rc1", "1.0.0.0-RC1"],
    ["1.0.0.pl3-dev", "1.0.0.0-patch3-dev"],
    ["1.0-dev", "1.0.0.0-dev"],
    ["10.4.13-beta", "10.4.13.0-beta"],
    ["10.4.13beta2", "10.4.13.0-beta2"],
    ["10.4.13beta.2", "10.4.13.0-beta2"],
    ["1.2b2", "1.2.0.0-beta2"],
    ["v1.13.11-beta.0", "1.13.11.0-beta0"],
    ["1.0.0-stable", "1.0.0.0"],
    ["1.0.0+foo@", "1.0.0.0"],
    ["1.0.0-beta.5+foo", "1.0.0.0-beta5"],
    ["2010.01", "2010.01.0.0"],
    ["20100102-203040", "20100102.203040"],
    ["2010-01-02", "2010.01.02"],
    ["1.x-dev", "1.9999999.9999999.9999999-dev"],
    ["1.2.x-dev", "1.2.9999999.9999999-dev"],
    ["master", "dev-master"],
    ["dev-master", "dev-master"],
    ["DEV-Feature/x", "dev-Feature/x"],
    ["1.0.0@stable", "1.0.0.0"],
  ])("%s is compared as %s", (version, normalized) => {
    expect(normalizeVersion(version)).toBe(normalized);
  });

  it.each(["", "a", "1.0.0-meh", "1.0.0.0.0", "feature-foo", "dev-", "1 .0", "dev-a b", "../1"])(
    "is not %j",
    (version) => {
      expect(normalizeVersion(version)).toBeUndefined();
    },
  );

  it.each([
    ["dev-master", true],
    ["1.9999999.9999999.9999999-dev", true],
    ["1.0.0.0-RC1", false],
  ])("%s is for developers: %s", (normalized, isDev) => {
    expect(isDevVersion(normalized)).toBe(isDev);
  });

  // SECURITY: a pattern that tries all splits of the digits would not end within the life of the
  // test.
  it("is refused at once, however long", () => {
    expect(normalizeVersion(`1beta${"1".repeat(5000)}!`)).toBeUndefined();
    expect(normalizeVersion(`${"1.".repeat(2500)}!`)).toBeUndefined();
  });
});
