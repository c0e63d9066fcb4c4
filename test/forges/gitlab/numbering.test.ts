import { describe, expect, it } from "vitest";

import {
  formatNumbering,
  numberOfIssue,
  numberOfPull,
  parseNumbering,
} from "../../../src/forges/gitlab/numbering.ts";
import { ALL, openSample, readAll } from "../../support/forges/gitlab-reader.ts";
import { SAMPLE_ISSUE_MAX, SAMPLE_PULL_MAX } from "../../support/forges/gitlab-sample.ts";

const SAMPLE_NUMBERING = `${SAMPLE_ISSUE_MAX}.${SAMPLE_PULL_MAX}`;

describe("the numbering", () => {
  it("keeps issues, and puts merge requests behind them", () => {
    const numbering = { issueMax: 10, pullMax: 3 };
    expect([1, 10].map((iid) => numberOfIssue(numbering, iid))).toEqual([1, 10]);
    expect([1, 3].map((iid) => numberOfPull(numbering, iid))).toEqual([11, 13]);
  });

  it.each([
    [10, 3],
    [0, 0],
    [0, 7],
    [7, 0],
  ])(
    "never gives a number twice, whatever is added to %d issues and %d others",
    (issueMax, pullMax) => {
      const iids = Array.from({ length: 200 }, (_, index) => index + 1);
      const numbers = iids.flatMap((iid) => [
        numberOfIssue({ issueMax, pullMax }, iid),
        numberOfPull({ issueMax, pullMax }, iid),
      ]);
      expect(new Set(numbers).size).toBe(400);
      expect(Math.min(...numbers)).toBe(1);
    },
  );

  it("is read as it is written", () => {
    const numbering = { issueMax: 120, pullMax: 45 };
    expect(parseNumbering(formatNumbering(numbering))).toEqual(numbering);
  });

  it.each(["", "1", "1.", "-1.2", "1.2.3", "x", "9999999999.1"])("is not %j", (text) => {
    expect(parseNumbering(text)).toBeUndefined();
    expect(() => openSample({ numbering: text })).toThrow("none of a GitLab project");
  });
});

describe("the numbering of a project", () => {
  it("is decided by its highest issue and merge request", async () => {
    expect((await openSample().reader.readProject()).numbering).toBe(SAMPLE_NUMBERING);
  });

  it("stays when it is given again, although the project has grown", async () => {
    const { reader } = openSample({ numbering: "20.5" });
    expect((await reader.readProject()).numbering).toBe("20.5");
    const [issues, pulls] = await Promise.all([
      readAll("issues", ALL, { numbering: "20.5" }),
      readAll("pulls", ALL, { numbering: "20.5" }),
    ]);
    const numberOf = (list: readonly { foreignId: string; number: number }[], id: string) =>
      list.find(({ foreignId }) => foreignId === id)?.number;
    expect(numberOf(issues, "issue/5020")).toBe(20);
    expect(numberOf(pulls, "merge_request/5005")).toBe(25);
    expect(numberOf(issues, "issue/5021")).toBe(26);
    expect(numberOf(pulls, "merge_request/5006")).toBe(27);
    expect(numberOf(issues, "issue/5022")).toBe(28);
    const numbers = [...issues, ...pulls].map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it("holds for all pages of a list, by their cursors", async () => {
    const first = await openSample({ numbering: "20.5" }).reader.readPage("pulls", undefined, ALL);
    const second = await openSample().reader.readPage("pulls", first.next, ALL);
    expect(second.items.map(({ number }) => number)).toEqual([37]);
  });

  it("gives all items the numbers of what they are about", async () => {
    const [issues, pulls, comments, reviews] = await Promise.all([
      readAll("issues"),
      readAll("pulls"),
      readAll("comments"),
      readAll("reviews"),
    ]);
    const numbers = new Set([...issues, ...pulls].map(({ number }) => number));
    expect(numbers.size).toBe(issues.length + pulls.length);
    expect(comments.filter(({ number }) => !numbers.has(number))).toEqual([]);
    expect(new Set(reviews.map(({ number }) => number))).toEqual(
      new Set([SAMPLE_ISSUE_MAX + 1, SAMPLE_ISSUE_MAX + 4]),
    );
  });
});
