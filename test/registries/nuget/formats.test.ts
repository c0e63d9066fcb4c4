import { describe, expect, it } from "vitest";

import {
  compareNugetVersions,
  nugetVersionKey,
  parseNugetVersion,
} from "../../../src/registries/nuget/nuget-version.ts";
import { type ODataEntry, parseFilter } from "../../../src/registries/nuget/odata-filter.ts";
import { readSymbolsId } from "../../../src/registries/nuget/portable-pdb.ts";
import { normalizeRange } from "../../../src/registries/nuget/v3-documents.ts";
import { makePdb } from "../../support/nupkgs.ts";

const parse = (text: string) => parseNugetVersion(text) ?? expect.fail(`${text} is no version`);

describe("a NuGet version", () => {
  it.each([
    ["1.0", "1.0.0", "1.0.0"],
    ["01.002.3.0", "1.2.3", "1.2.3"],
    ["1.2.3.4", "1.2.3.4", "1.2.3.4"],
    ["1.0.0-Beta.1+Build", "1.0.0-beta.1", "1.0.0-Beta.1+Build"],
    ["3", "3.0.0", "3.0.0"],
  ])("%s has the key %s", (text, key, full) => {
    expect(nugetVersionKey(parse(text))).toBe(key);
    expect(parse(text).full).toBe(full);
  });

  it.each([
    "",
    "a",
    "1.2.3.4.5",
    "1.",
    "1.0-",
    "1.0-a..b",
    "1.0+",
    " 1.0",
    "1.0\n",
    "1".repeat(200),
  ])("is not %j", (text) => {
    expect(parseNugetVersion(text)).toBeUndefined();
  });

  it("is in NuGet's order", () => {
    const sorted = [
      "0.9",
      "1.0.0-1",
      "1.0.0-2",
      "1.0.0-10",
      "1.0.0-alpha",
      "1.0.0-Alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0",
      "1.0.0.1",
      "1.0.2",
      "1.0.10",
      "1.0.99999999999999999999",
    ].map(parse);
    expect(sorted.toReversed().toSorted(compareNugetVersions)).toEqual(sorted);
    expect(compareNugetVersions(parse("1.0-RC"), parse("1.0.0-rc+x"))).toBe(0);
  });
});

describe("a range", () => {
  it.each([
    ["", "(, )"],
    ["1.0", "[1.0, )"],
    ["[1.0]", "[1.0, 1.0]"],
    ["(1.0,2.0]", "(1.0, 2.0]"],
    ["[1.0,)", "[1.0, )"],
    ["( , 2.0)", "(, 2.0)"],
  ])("%j is %s", (range, expected) => {
    expect(normalizeRange(range)).toBe(expected);
  });
});

describe("a filter", () => {
  const properties = new Set(["Id", "Version", "IsLatestVersion", "DownloadCount"]);
  const entry: ODataEntry = {
    Id: "My.Package",
    Version: "1.0.0",
    IsLatestVersion: true,
    DownloadCount: 3,
  };

  it.each<[string, boolean, string | undefined]>([
    ["IsLatestVersion", true, undefined],
    ["IsLatestVersion eq true", true, undefined],
    ["not IsLatestVersion", false, undefined],
    ["Id eq 'My.Package'", true, "My.Package"],
    ["(tolower(Id) eq 'my.package')", true, "my.package"],
    ["'my.package' eq tolower(Id) and IsLatestVersion", true, "my.package"],
    ["tolower(Id) eq 'it''s'", false, "it's"],
    ["tolower(Id) eq 'a' or tolower(Id) eq 'my.package'", true, undefined],
    ["Id ne 'x' and Version eq '1.0.0'", true, undefined],
    ["substringof('pack',tolower(Id))", true, undefined],
    ["startswith(Id,'my') or endswith(Id,'age')", true, undefined],
    ["DownloadCount gt 2 and DownloadCount le 3 and DownloadCount lt 10", true, undefined],
    ["(IsLatestVersion and (DownloadCount ge 4))", false, undefined],
    ["toupper(Id) eq 'MY.PACKAGE'", true, "MY.PACKAGE"],
  ])("%s", (text, expected, id) => {
    const filter = parseFilter(text, properties);
    expect(filter.matches(entry)).toBe(expected);
    expect(filter.id).toBe(id);
  });

  it.each([
    "Unknown eq 1",
    "constructor",
    "Id eq",
    "Id 'a'",
    "(Id eq 'a'",
    "Id eq 'a",
    "tolower(Id,Id) eq 'a'",
    "valueOf(Id)",
    "Id eq 'a' ;",
    "not",
    "(".repeat(100),
    "not ".repeat(5000),
    "tolower(".repeat(100),
  ])("is refused: %s", (text) => {
    expect(() => parseFilter(text, properties)).toThrow(/filter/);
  });
});

describe("a portable PDB", () => {
  const id = Uint8Array.from({ length: 16 }, (_, index) => index + 1);

  it("has the id of its assembly", () => {
    expect(readSymbolsId(makePdb(id))).toBe("0403020106050807090a0b0c0d0e0f10ffffffff");
  });

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["other bytes", new Uint8Array(100).fill(1)],
    ["its beginning", makePdb(id).slice(0, 40)],
    ["all but its end", makePdb(id).slice(0, -10)],
  ])("is not %s", (_, bytes) => {
    expect(readSymbolsId(bytes)).toBeUndefined();
  });
});
