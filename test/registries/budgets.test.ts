import { beforeAll, describe, expect, it } from "vitest";

import { registries } from "../../src/registries/index.ts";
import { make, type TestUser } from "../support/make.ts";
import { PUBLISHED, type RegistryRead, SETTINGS } from "../support/published-packages.ts";
import { doorsWith } from "../support/service.ts";
import { logged } from "../support/usage.ts";

// The first read of an index or a file takes two round trips of D1 at most, and one afterwards: an
// index is kept, and a file is found together with its package. No index that is kept reads a row
// for each version or package.

const counting = doorsWith({ LOG_D1_ROWS: "true", ...SETTINGS });

/** Reads that take more round trips, which are not kept. @see SHORTCOMINGS.md */
const ROUNDS: Readonly<Record<string, number>> = {
  "npm tags": 2,
  "npm version": 2,
  "npm version by its tag": 2,
  "pypi metadata of a wheel": 2,
  "rubygems gemspec": 2,
  "rubygems gem": 2,
  "rubygems search": 2,
  "rubygems JSON of a gem": 2,
  "rubygems JSON of versions": 2,
  "nuget query": 3,
  "nuget autocomplete": 2,
  "nuget entry of version 2": 2,
  "nuget versions of version 2": 2,
  "nuget search of version 2": 3,
  "nuget count of version 2": 2,
  "helm archive": 2,
  "helm charts": 2,
  "helm chart": 2,
  "helm version of a chart": 2,
  "container tags": 2,
  "container referrers": 2,
};

/** Reads that take three round trips when they come first. */
const FIRST_ROUNDS: Readonly<Record<string, number>> = { "rubygems search": 3 };

/**
 * Round trips of a publication: for the caller and the owner, a note of the bytes before they are
 * stored, often the package, whose name is in what was sent, and the batch.
 */
const PUBLISH_ROUNDS: Readonly<Record<string, number>> = {
  generic: 3,
  npm: 3,
  maven: 3,
  pypi: 4,
  cargo: 4,
  go: 4,
  composer: 4,
  rubygems: 4,
  helm: 4,
  debian: 4,
  // The manifest is a file of its own.
  nuget: 5,
};

/** Lists and searches that are made from all versions that they may name, each time. */
const GROWING = new Set([
  "npm tags",
  "rubygems JSON of a gem",
  "rubygems JSON of versions",
  "nuget query",
  "nuget autocomplete",
  "nuget entry of version 2",
  "nuget versions of version 2",
  "nuget search of version 2",
  "nuget count of version 2",
  "helm charts",
  "helm chart",
  "helm version of a chart",
]);

/**
 * Routes that nothing here reads: of a caller, of other packages, without a database; and other
 * spellings of those below.
 */
const OTHER_ROUTES = [
  /^\/v2(?:\/token|\/_catalog|\/)?$/,
  /\/npm\/-\//,
  /\/npm\/:scope/,
  /\/go\/sumdb\//,
  /\/cargo\/[123]\//,
  /\/helm\/charts\//,
  /\/pypi\/simple(?:\/:name)?\/$/,
  /\/nuget\/symbols\//,
  // Pages of more versions than one has.
  /\/nuget\/registration\/:id\/page\//,
  /\/nuget\/(?:Packages|FindPackagesById|Search)(?:\(\))?(?:\/\$count)?$/,
];

interface Usage {
  readonly title: string;
  readonly rounds: number;
  readonly rows: number;
}

const routesRead = new Set<string>();

async function measure(
  owner: TestUser,
  format: string,
  { title, path, headers = {}, isDownload = false }: RegistryRead,
): Promise<Usage> {
  const { answer, line } = await logged(() => counting("GET", path, { as: owner, headers }));
  expect(answer.status, path).toBe(200);
  routesRead.add(line.route);
  // Without the row that counts the download, which is written after the response.
  const rounds = line.d1Rounds - (isDownload ? 1 : 0);
  return { title: `${format} ${title}`, rounds, rows: line.d1RowsRead };
}

describe.each(Object.entries(PUBLISHED))("reads of %s", (format, { publish, reads }) => {
  let owner: TestUser;
  const publishAll = async (...versions: [name: string, version: string][]) => {
    for (const [name, version] of versions) {
      const { status, body } = await publish(owner, name, version);
      expect(status, JSON.stringify(body)).toBeLessThan(300);
    }
  };
  const measureAll = async (): Promise<Usage[]> => {
    const measured: Usage[] = [];
    for (const read of await reads(owner, "tool", "1.0.0")) {
      measured.push(await measure(owner, format, read));
    }
    return measured;
  };

  beforeAll(async () => {
    owner = await make.user();
    await publishAll(["tool", "1.0.0"], ["other", "1.0.0"], ["tool", "1.0.1"]);
  });

  it("take two round trips first, and one when they are repeated", async () => {
    const first = await measureAll();
    const repeated = await measureAll();
    expect(first.length).toBeGreaterThan(0);
    for (const { title, rounds } of first) {
      const roundsMax = FIRST_ROUNDS[title] ?? Math.max(2, ROUNDS[title] ?? 1);
      expect(rounds, title).toBeLessThanOrEqual(roundsMax);
    }
    const expected = Object.fromEntries(repeated.map(({ title }) => [title, ROUNDS[title] ?? 1]));
    expect(Object.fromEntries(repeated.map(({ title, rounds }) => [title, rounds]))).toEqual(
      expected,
    );
  });

  it("read no more rows where there are more packages and versions", async () => {
    await measureAll();
    const few = await measureAll();
    for (let at = 2; at < 8; at++) await publishAll([`other${at}`, "1.0.0"], ["tool", `1.0.${at}`]);
    await measureAll();
    const many = await measureAll();
    for (const [at, { title, rows }] of many.entries()) {
      const growth = rows - (few[at]?.rows ?? 0);
      expect(growth > 1, `${title}: ${few[at]?.rows} rows, then ${rows}`).toBe(GROWING.has(title));
    }
  });
});

describe("publications", () => {
  it.each(Object.entries(PUBLISH_ROUNDS))("take few round trips: %s", async (format, rounds) => {
    const owner = await make.user();
    await PUBLISHED[format]?.publish(owner, "tool", "1.0.0");
    const { line } = await logged(async () => {
      const answer = await PUBLISHED[format]?.publish(owner, "tool", "1.0.1");
      if (!answer) throw new Error(`there is no format ${format}`);
      return answer;
    });
    expect(line.status).toBeLessThan(300);
    expect(line.d1Rounds).toBe(rounds);
  });
});

it("every route that reads packages is read here", () => {
  const routes = registries.routes
    .filter(({ method, path }) => method === "GET" || path === "/v2/:owner/*")
    .map(({ path }) => path);
  expect(routes.length).toBeGreaterThan(50);
  const read = (path: string) =>
    routesRead.has(path) || OTHER_ROUTES.some((pattern) => pattern.test(path));
  expect([...new Set(routes)].filter((path) => !read(path))).toEqual([]);
});
