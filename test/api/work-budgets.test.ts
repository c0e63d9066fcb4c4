import { describe, expect, it } from "vitest";

import { call } from "../support/call.ts";
import { countWork, type Work } from "../support/count-work.ts";
import { byId, isRead, type SampledOperation, sampled } from "../support/samples/gather.ts";
import { requestMaker } from "../support/samples/request.ts";

/**
 * What one request may make and do at most. D1's client parses a URL and makes a list of headers for each call, so that these
 * bound its calls too; a file that is cached is a response.
 */
const EACH_MAX: Work = {
  responses: 6,
  headerLists: 6,
  headerWrites: 18,
  urls: 7,
  digests: 5,
  deferred: 3,
  logLines: 1,
  sqlBuilds: 12,
};

const kinds = Object.keys(EACH_MAX) as (keyof Work)[];

/** Operations that do more. */
const LARGER: Readonly<Record<string, Partial<Work>>> = {
  // Each link and each image of the sample.
  renderMarkdown: { urls: 200 },
  // The other host.
  repoMigrate: { headerLists: 14, headerWrites: 20, urls: 16, sqlBuilds: 20 },
  repoImport: { headerLists: 10, urls: 14, sqlBuilds: 15 },
  // Each rule is tried on packages.
  editPackageCleanupRule: { urls: 10 },
  // The mails of a key.
  userVerifyGPGKey: { digests: 8 },
};

/** Writes that build the SQL of more queries than others. The list may only become shorter, and its numbers lower. */
const BUILDING_MORE: Readonly<Record<string, number>> = {
  acceptRepoTransfer: 19,
  adminDeleteUser: 43,
  generateRepo: 14,
  issueCreateIssue: 19,
  issueEditIssue: 29,
  repoCreatePullRequest: 23,
  repoDelete: 33,
  repoEditPullRequest: 35,
};

/**
 * The mean of all operations that read, and of all others, rounded up: what the frame or a guard does more shows here, as it
 * adds to every request. Lower a bound when its mean has fallen.
 */
const MEAN_MAX: Readonly<Record<"read" | "write", Work>> = {
  read: {
    responses: 1.6,
    headerLists: 2.45,
    headerWrites: 9,
    urls: 2.25,
    digests: 1.6,
    deferred: 0.05,
    logLines: 1,
    sqlBuilds: 0.05,
  },
  write: {
    responses: 1.5,
    headerLists: 2.95,
    headerWrites: 8.95,
    urls: 3.2,
    digests: 1.25,
    deferred: 1.15,
    logLines: 1,
    sqlBuilds: 4.9,
  },
};

/** Operations whose count of links is that of the sample's text, and says nothing about the others. */
const isUsual = ({ id }: SampledOperation): boolean => LARGER[id] === undefined;

const makeRequest = requestMaker();
const measured: { operation: SampledOperation; work: Work }[] = [];

describe("the work of a request", () => {
  it("is no more than a response with its headers and a line of the log where nothing is read", async () => {
    // The first request to a host parses its address.
    await call("GET", "/version");
    const { work } = await countWork(() => call("GET", "/version"));
    expect(work).toEqual({
      responses: 1,
      headerLists: 0,
      headerWrites: 5,
      urls: 0,
      digests: 0,
      deferred: 0,
      logLines: 1,
      sqlBuilds: 0,
    });
  });

  it.each(byId(sampled))("stays within its budget: %s", async (id, operation) => {
    const { method, path, content, caller } = await makeRequest(operation);
    const { result, work } = await countWork(() => call(method, path, { as: caller, ...content }));
    measured.push({ operation, work });
    expect(result.status).toBe(operation.sample.refusal?.status ?? result.status);
    expect(work.logLines).toBe(1);
    const sqlBuilds = BUILDING_MORE[id] ?? EACH_MAX.sqlBuilds;
    const max: Work = { ...EACH_MAX, sqlBuilds, ...LARGER[id] };
    const over = kinds.filter((kind) => work[kind] > max[kind]);
    expect(over, JSON.stringify(work)).toEqual([]);
  });

  it.for(["read", "write"] as const)(
    "stays within its budget in the mean of all that %s",
    (side, { skip }) => {
      const usual = sampled.filter(isUsual).filter((each) => isRead(each) === (side === "read"));
      const works = measured.flatMap(({ operation, work }) =>
        usual.includes(operation) ? [work] : [],
      );
      if (works.length < usual.length) skip("some operations were not measured");
      const means = kinds.map((kind) => [
        kind,
        works.reduce((sum, work) => sum + work[kind], 0) / works.length,
      ]);
      const over = means.filter(
        ([kind, mean]) => Number(mean) > MEAN_MAX[side][kind as keyof Work],
      );
      expect(over, JSON.stringify(Object.fromEntries(means))).toEqual([]);
    },
  );
});
