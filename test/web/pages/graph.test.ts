import { describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { storePush, storeRefs } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

const pathOf = ({ owner, name }: TestRepo): string => `/${owner}/${name}`;

/** The number of times that a text has another one. */
const count = (text: string, part: string): number => text.split(part).length - 1;

describe("the graph of commits", () => {
  async function makeMerged() {
    const repo = await make.repo(await make.user());
    const history = new History();
    const base = history.commit({ message: "base\n" });
    const left = history.commit({ message: "left\n", parents: [base] });
    const right = history.commit({ message: "right\n", parents: [base] });
    const merge = history.commit({ message: "merge\n", parents: [left, right] });
    const aside = history.commit({ message: "aside\n", parents: [base] });
    const name = '"><script>x';
    const refs = { "heads/main": merge, [`heads/${name}`]: aside, "tags/v1": left };
    await storeRefs(
      repo,
      Object.entries(refs).map(([short, oid]) => ({ ref: `refs/${short}`, oid })),
      history.build(),
    );
    return { path: `${pathOf(repo)}/graph`, oids: { base, left, right, merge, aside }, name };
  }

  it("draws all branches and tags, children first", async () => {
    const { path, oids, name } = await makeMerged();
    const page = await read(path);
    expect(page).toContain("5 commits of all branches and tags");
    const order = ["aside", "merge", "right", "left", "base"] as const;
    const places = order.map((key) => page.indexOf(`/commit/${oids[key]}"`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(Math.min(...places)).toBeGreaterThan(0);
    expect(page).not.toContain(name);
    expect(page).toContain("&quot;&gt;&lt;script&gt;x</a>");
    expect(page).toMatch(/v1<\/a>/);
    expect(count(page, "<circle ")).toBe(5);
    // The merge begins the lane of its second parent beside the one of its first.
    expect(page).toContain('<path class="lane-2" d="M21 16C21 32 35 16 35 32">');
  });

  it("draws the named branches alone", async () => {
    const { path, oids } = await makeMerged();
    const page = await read(`${path}?branch=main`);
    expect(page).toContain("4 commits of main");
    expect(page).not.toContain(oids.aside);
    expect(page).toContain('name="branch" value="main" checked=""');
    expect(page).toContain('name="branch" value="&quot;&gt;&lt;script&gt;x"');
    expect(await read(`${path}?branch=main&branch=`)).toContain("4 commits of main");
    expect((await visit("GET", `${path}?branch=none`, PEOPLE)).status).toBe(404);
  });

  it("goes on by page in the same lanes", async () => {
    const repo = await make.repo(await make.user());
    const history = new History();
    let tip = history.commit();
    for (let at = 0; at < 100; at++) tip = history.commit({ parents: [tip] });
    await storePush(repo, "refs/heads/main", tip, history.build());
    const path = `${pathOf(repo)}/graph`;
    expect(count(await read(path), "<circle ")).toBe(100);
    const last = await read(`${path}?page=2`);
    expect(count(last, "<circle ")).toBe(1);
    expect(last).toContain('<path class="lane-0" d="M7 0C7 16 7 0 7 16">');
  });
});
