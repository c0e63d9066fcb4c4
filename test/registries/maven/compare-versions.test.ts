import { expect, it } from "vitest";

import { compareMavenVersions } from "../../../src/registries/maven/compare-versions.ts";

/** Lowest first; those in one row are equal. */
const ORDER = [
  ["1-alpha-1", "1.0alpha1", "1-a1"],
  ["1-beta-2", "1-b2"],
  ["1-beta-11"],
  ["1-milestone-1", "1-m1"],
  ["1-rc1", "1-cr1", "1.0.rc1"],
  ["1-SNAPSHOT"],
  ["1", "1.0", "1.0.0", "1-ga", "1.final", "1.0.0-0.0.0"],
  ["1-sp"],
  ["1-abc"],
  ["1-foo", "1.0.0-foo.0.0"],
  ["1-1"],
  ["1.0.1-android"],
  ["1.0.1-jre"],
  ["1.9"],
  ["1.10"],
  ["2.0-20260101.000000-1"],
  ["99999999999999999999999"],
] as const;

const RANKS = ORDER.flatMap((row, rank) => row.map((version) => [version, rank] as const));

it.each(RANKS)("%s stands where Maven puts it", (version, rank) => {
  const found = RANKS.map(([other]) => [other, Math.sign(compareMavenVersions(version, other))]);
  expect(found).toEqual(RANKS.map(([other, at]) => [other, Math.sign(rank - at)]));
});
