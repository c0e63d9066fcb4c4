import { describe, expect, it } from "vitest";

import {
  countAuthors,
  startOfWeek,
  weekOf,
} from "../../../../src/domain/code/commits/count-authors.ts";
import { History } from "../../../support/commits.ts";
import { git } from "../../../support/git.ts";
import { make } from "../../../support/make.ts";
import { storeRefs } from "../../../support/push.ts";

const MONDAY = "2024-01-01T00:00:00Z";
const secondsOf = (time: string): number => Date.parse(time) / 1000;

/** A repository with a history; the id is that of its last commit. */
async function open(history: History, oid: string) {
  const repo = await make.repo(await make.user());
  await storeRefs(repo, [{ ref: "refs/heads/main", oid }], history.build());
  const stored = git.repository(repo);
  const repository = await stored.open(await stored.snapshot());
  return { repository, tip: repository.graph.find(oid) };
}

describe("the authors of a history", () => {
  it("have their commits by week, and merges are not counted", async () => {
    const history = new History();
    history.at(secondsOf(MONDAY) - 120);
    const first = history.commit({ author: "Ann <ANN@example.com>" });
    const second = history.commit({ author: "Ann <ann@example.com>", parents: [first] });
    const side = history.commit({ author: "Bo <bo@example.com>", parents: [first] });
    const merge = history.commit({ author: "Merger <m@example.com>", parents: [second, side] });
    const last = history.commit({
      author: "Ann Newname <ann@example.com>",
      parents: [merge],
      files: { a: "a" },
    });
    const { repository, tip } = await open(history, last);
    const week = weekOf(secondsOf(MONDAY));
    expect(await countAuthors(repository, tip)).toEqual({
      authors: [
        {
          name: "Ann Newname",
          email: "ann@example.com",
          commits: 3,
          weeks: [
            [week, 2],
            [week - 1, 1],
          ],
        },
        { name: "Bo", email: "bo@example.com", commits: 1, weeks: [[week, 1]] },
      ],
      total: 4,
      firstSeconds: secondsOf(MONDAY) - 60,
      isCut: false,
    });
    const later = await countAuthors(repository, tip, secondsOf(MONDAY) + 60);
    expect(later).toMatchObject({ total: 2, isCut: false });
  });

  it("are counted as far as the work of a request suffices, and the next one goes on", async () => {
    const history = new History();
    let parents: string[] = [];
    for (let at = 0; at < 9000; at++) {
      parents = [history.commit({ author: `A${at % 2} <a${at % 2}@example.com>`, parents })];
    }
    const { repository, tip } = await open(history, parents[0] ?? "");
    const some = await countAuthors(repository, tip);
    expect(some.isCut).toBe(true);
    expect(some.total).toBeGreaterThan(4000);
    const all = await countAuthors(repository, tip);
    expect(all).toMatchObject({ total: 9000, isCut: false });
    expect(all.authors.map(({ commits }) => commits)).toEqual([4500, 4500]);
  });
});

describe("a week", () => {
  it("begins on Monday, in UTC", () => {
    const week = weekOf(secondsOf(MONDAY));
    expect(startOfWeek(week)).toBe(Date.parse(MONDAY));
    expect(weekOf(secondsOf(MONDAY) - 1)).toBe(week - 1);
    expect(weekOf(secondsOf(MONDAY) + 7 * 24 * 60 * 60 - 1)).toBe(week);
  });
});
