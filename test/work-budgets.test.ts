import { describe, expect, it } from "vitest";

import type { Answer } from "./support/call.ts";
import { countWork, type Work } from "./support/count-work.ts";
import type { Door } from "./support/doors/door.ts";
import { GIT } from "./support/doors/git.ts";
import { PAGES_DOOR } from "./support/doors/pages.ts";
import { PROVIDER } from "./support/doors/provider.ts";
import { expectRecorded } from "./support/expect-recorded.ts";
import { make, type TestUser } from "./support/make.ts";
import { PUBLISHED, type RegistryRead, SETTINGS } from "./support/published-packages.ts";
import { doorsWith } from "./support/service.ts";

// What a usual request of each door makes and does at most, so that it can't become more unseen:
// test/work.json has the numbers. The API's operations have test/api/work-budgets.test.ts, jobs
// test/jobs/work-budgets.test.ts.

async function countOf(title: string, send: () => Promise<Answer>): Promise<Work> {
  const { result, work } = await countWork(send);
  expect(result.status, `${title}: ${JSON.stringify(result.body)}`).toBeLessThan(400);
  return work;
}

const DOORS: Readonly<Record<string, Door>> = { git: GIT, pages: PAGES_DOOR, provider: PROVIDER };

/** One test opens all pages twice, in which a busy machine takes longer than for others. */
const ALL_PAGES_MS = 180_000;

describe("the work of a request", () => {
  // What is read once and kept, or prepared once, is there the second time.
  it.for(Object.entries(DOORS))(
    "is no more than recorded: %s",
    { timeout: ALL_PAGES_MS },
    async ([name, door], { task }) => {
      const place = await door.open();
      const works: Record<string, Work> = {};
      for (const [title, send] of Object.entries(door.requests)) {
        await countOf(title, () => send(place, 1));
        works[`${name}: ${title}`] = await countOf(title, () => send(place, 2));
      }
      expectRecorded(task, works);
    },
  );
});

const serve = doorsWith(SETTINGS);

describe("the work of a registry's request", () => {
  it.for(Object.entries(PUBLISHED))(
    "is no more than recorded: %s",
    async ([format, { publish, reads }], { task }) => {
      const [other, owner] = [await make.user(), await make.user()];
      const send = (as: TestUser, { title, path, headers = {} }: RegistryRead) =>
        countOf(title, () => serve("GET", path, { as, headers }));
      for (const each of [other, owner]) await publish(each, "tool", "1.0.0");
      for (const read of await reads(other, "tool", "1.0.0")) await send(other, read);
      const works: Record<string, Work> = {};
      for (const read of await reads(owner, "tool", "1.0.0")) {
        works[`${format}: ${read.title}, first`] = await send(owner, read);
        works[`${format}: ${read.title}`] = await send(owner, read);
      }
      works[`${format}: publication`] = await countOf("publication", () =>
        publish(owner, "tool", "1.0.1"),
      );
      expectRecorded(task, works);
    },
  );
});
