import { describe, expect, it } from "vitest";

import { call } from "../support/call.ts";
import { byId, isRead, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { expectOutcome } from "../support/samples/outcome.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";
import { logged } from "../support/usage.ts";

const [first, second] = [new World(), new World()];

const reads = sampled.filter(isRead);

/** How often SQL was built for a read of a world, by its caller and without a credential. */
async function buildsIn(world: World, operation: SampledOperation): Promise<number> {
  const { method, path, content, caller } = await requestIn(world, operation);
  const callers = operation.allowsAnonymous ? [{ as: caller }, {}] : [{ as: caller }];
  let builds = 0;
  for (const as of callers) {
    const { answer, line } = await logged(() => call(method, path, { ...as, ...content }));
    // One that is refused by its guard would build nothing.
    expectOutcome(answer, operation);
    builds += line.sqlBuilds;
  }
  return builds;
}

describe("the SQL of a read", () => {
  it.each(byId(reads))("is built once and bound for other rows: %s", async (_, operation) => {
    await buildsIn(first, operation);
    expect(await buildsIn(second, operation)).toBe(0);
  });
});
