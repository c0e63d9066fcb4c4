import { expect, inject, it } from "vitest";

import {
  importSample,
  makeProjectGit,
  type MessageUsage,
} from "../../../support/forges/import-sample.ts";
import { makeGiteaSample } from "../../../support/forges/gitea-sample.ts";
import { make } from "../../../support/make.ts";

const ISSUES = 2000;
const COMMENTS_EACH = 1;

/**
 * What the platform grants one invocation: statements of D1. Requests are of 10,000 calls of all
 * kinds.
 */
const STATEMENTS_MAX = 1000;
const REQUESTS_MAX = 2000;

const most = (used: readonly MessageUsage[], key: keyof MessageUsage): number =>
  Math.max(...used.map((each) => each[key]));

it(
  `takes a project of ${ISSUES} issues over, each message within what the platform grants`,
  { timeout: 1_800_000 },
  async () => {
    const here = inject("gitea");
    const instance = `at-${crypto.randomUUID()}`;
    await makeProjectGit(instance, "src/main.c", { feature: [], fix: [] });
    await fetch(`${here}/_behaviour/${instance}`, {
      method: "PUT",
      body: JSON.stringify({ many: { issues: ISSUES, commentsEach: COMMENTS_EACH } }),
    });
    const owner = await make.admin();
    const used: MessageUsage[] = [];
    const { row, get } = await importSample(
      owner,
      {
        service: "gitea",
        clone_addr: `${here}/${instance}/gardeners/app`,
        authors: {},
      },
      { onMessage: (each) => used.push(each) },
    );

    expect(row).toMatchObject({ state: "done", lastError: "" });
    const sample = makeGiteaSample();
    const issues = sample.issues.length + ISSUES;
    expect(row.progress).toMatchObject({
      issues: { done: issues, total: issues },
      comments: { done: sample.comments.length + ISSUES * COMMENTS_EACH },
    });
    const added = Math.ceil(ISSUES / 3);
    expect(await get("")).toMatchObject({
      open_issues_count:
        sample.issues.filter(({ state }) => state === "open").length + ISSUES - added,
    });
    const last = 100_000 + ISSUES - 1;
    expect(await get(`/issues/${last}`)).toMatchObject({
      title: `One of many: ${last}`,
      comments: COMMENTS_EACH,
    });
    expect(used.length).toBeGreaterThan(1);
    expect(most(used, "statements")).toBeLessThan(STATEMENTS_MAX);
    expect(most(used, "requests")).toBeLessThan(REQUESTS_MAX);
  },
);
