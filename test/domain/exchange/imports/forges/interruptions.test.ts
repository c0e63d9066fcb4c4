import { expect, it } from "vitest";

import type { GiteaBehaviour, RawAnswer } from "../../../../support/forges/gitea.ts";
import { importGitea } from "../../../../support/forges/import-gitea.ts";
import { readBack } from "../../../../support/forges/import-sample.ts";

const refusal = (status: number): RawAnswer => ({ status, body: '{"message":"no"}' });

// What has come stays, and the import can be continued.
it.each<[string, Record<string, RawAnswer>, string, RegExp]>([
  [
    "is deleted",
    { "issues/comments": refusal(404) },
    "comments",
    /^Migration failed: GET [^ ]+\/issues\/comments was answered with 404: it is gone there, or no longer shown\.$/,
  ],
  [
    "takes the token no more",
    { pulls: refusal(401) },
    "pulls",
    /^Authentication failed: GET [^ ]+\/pulls was answered with 401\.$/,
  ],
  [
    "shows the reactions of an issue no more",
    { "issues/80/reactions": refusal(401) },
    "issues",
    /^Authentication failed: GET [^ ]+\/issues\/80\/reactions was answered with 401\.$/,
  ],
])(
  "ends with a reason where the project %s meanwhile, and goes on from there",
  async (_, raw, stage, reason) => {
    const behaviour: GiteaBehaviour = { token: "first" };
    const at = await importGitea({ ...behaviour, raw });
    expect(at.row).toMatchObject({
      state: "failed",
      stage,
      lastError: expect.stringMatching(reason),
    });
    expect((await at.get("")).migration).toBe("failed");
    expect((await at.list("/labels")).length).toBeGreaterThan(0);

    await at.change({ token: "second", raw: {} });
    expect(await at.goOn("second")).toMatchObject({ state: "done", lastError: "" });

    const whole = await importGitea(behaviour);
    const shown = async (each: typeof at) => {
      const { progress: _progress, ...rest } = await readBack(each, 2);
      return JSON.parse(
        JSON.stringify({ ...rest, state: "done" }).replaceAll(/\/at-[0-9a-f-]+/g, ""),
      );
    };
    expect(await shown(at)).toEqual(await shown(whole));
  },
  120_000,
);

it("keeps the gaps in the numbers of a project", async () => {
  const { row, get, list, sample } = await importGitea();
  expect(row.state).toBe("done");
  const numbers = [...sample.issues, ...sample.pulls].map(({ number }) => Number(number));
  const here = (await list("/issues?state=all&type=all")).map(({ number }) => number as number);
  expect(new Set(here)).toEqual(new Set(numbers));
  // A merged pull request whose branch is gone, and one whose fork is.
  expect(await get("/pulls/4")).toMatchObject({ merged: true, state: "closed" });
  expect(await get("/pulls/6")).toMatchObject({ merged: false, state: "closed" });
});

it("takes a merged pull request whose head is gone for good", async () => {
  const gone = "9".repeat(40);
  const { sample, ...first } = await importGitea();
  expect(first.row.state).toBe("done");
  const merged = sample.pulls.find(({ number }) => number === 4);
  const head = { ...(merged?.["head"] as object), sha: gone, repo: null, ref: "refs/pull/4/none" };
  const pulls = sample.pulls.map((each) =>
    each === merged ? Object.assign({}, each, { head }) : each,
  );
  const { row, get } = await importGitea({ project: { pulls } });
  expect(row.state).toBe("done");
  expect(await get("/pulls/4")).toMatchObject({ merged: true, state: "closed" });
  expect((await get("/issues/4")).pull_request).toMatchObject({ merged: true });
});
