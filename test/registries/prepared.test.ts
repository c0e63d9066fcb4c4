import { beforeAll, describe, expect, it } from "vitest";

import { registries } from "../../src/registries/index.ts";
import { type Answer, basic, type Sending } from "../support/call.ts";
import { make, type TestUser } from "../support/make.ts";
import { PUBLISHED, SETTINGS } from "../support/published-packages.ts";
import { type DoorRead, DOORS } from "../support/registry-doors.ts";
import { doorsWith } from "../support/service.ts";
import { logged } from "../support/usage.ts";

// As test/api/prepared.test.ts: what the first request of a read has built, later ones bind.

const serve = doorsWith(SETTINGS);

/** The callers of a read, by the credentials that clients send. */
async function callersOf(owner: TestUser, read: DoorRead, format: string): Promise<Sending[]> {
  const callers: Sending[] = [{ as: owner }, { headers: basic(owner.name, owner.token) }];
  if (!read.needsUser && !read.needsCredential) callers.push({});
  if (format === "container") {
    const { body } = await serve("GET", "/v2/token", { headers: basic(owner.name, owner.token) });
    callers.push({ headers: { Authorization: `Bearer ${body.token}` } });
    const { body: anonymous } = await serve("GET", "/v2/token");
    if (!read.needsUser) callers.push({ headers: { Authorization: `Bearer ${anonymous.token}` } });
  }
  return callers;
}

const routesRead = new Set<string>();

/** Other spellings of routes that are read, and routes that only refuse. */
const OTHER_ROUTES: readonly RegExp[] = [
  /\/go\/sumdb\//,
  /\/cargo\/[123]\//,
  /\/pypi\/simple(?:\/:name)?\/$/,
  /\/npm\/-\/npm\/v1\/attestations\/:spec$/,
  /\/npm\/:scope.+\/:version/,
  /\/nuget\/(?:Packages|FindPackagesById|Search)(?:\(\))?(?:\/\$count)?$/,
];

/** How often SQL was built for a read by all of its callers. */
async function buildsOf(owner: TestUser, read: DoorRead, format: string): Promise<number> {
  const { method = "GET", path, headers, status = 200 } = read;
  let builds = 0;
  for (const caller of await callersOf(owner, read, format)) {
    const send = (): Promise<Answer> =>
      serve(method, path, { ...caller, headers: { ...headers, ...caller.headers } });
    const { answer, line } = await logged(send);
    expect(answer.status, `${method} ${path}`).toBe(status);
    builds += line.sqlBuilds;
    routesRead.add(line.route);
  }
  return builds;
}

describe.each(Object.entries(PUBLISHED))("the SQL of reads of %s", (format, published) => {
  /** Publishes packages of another owner and returns the reads of these. */
  const prepareReads = async (): Promise<{ owner: TestUser; reads: readonly DoorRead[] }> => {
    const owner = await make.user();
    for (const version of ["1.0.0", "1.0.1"]) {
      const { status, body } = await published.publish(owner, "tool", version);
      expect(status, JSON.stringify(body)).toBeLessThan(300);
    }
    const own = await published.reads(owner, "tool", "1.0.0");
    const others = await DOORS[format]?.(owner, "tool", "1.0.0");
    return { owner, reads: [...own, ...(others ?? [])] };
  };
  let first: Awaited<ReturnType<typeof prepareReads>>;
  let second: Awaited<ReturnType<typeof prepareReads>>;

  beforeAll(async () => {
    [first, second] = [await prepareReads(), await prepareReads()];
  });

  it("is built once and bound for other packages", async () => {
    for (const read of first.reads) await buildsOf(first.owner, read, format);
    const building: string[] = [];
    for (const read of second.reads) {
      if ((await buildsOf(second.owner, read, format)) > 0) building.push(read.title);
    }
    expect(second.reads.length).toBeGreaterThan(0);
    expect(building).toEqual([]);
  });
});

it("every route of the registries that reads is read here", () => {
  const routes = registries.routes.filter(({ method }) => method === "GET").map(({ path }) => path);
  expect(routes.length).toBeGreaterThan(50);
  const isRead = (path: string) =>
    routesRead.has(path) || OTHER_ROUTES.some((pattern) => pattern.test(path));
  expect([...new Set(routes)].filter((path) => !isRead(path))).toEqual([]);
});
