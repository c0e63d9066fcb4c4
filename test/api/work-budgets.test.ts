import { describe, expect, it } from "vitest";

import { Writes } from "../../src/lib/writes.ts";
import { call } from "../support/call.ts";
import { countWork } from "../support/count-work.ts";
import { expectRecorded } from "../support/expect-recorded.ts";
import { byId, sampled } from "../support/samples/gather.ts";
import { requestMaker } from "../support/samples/request.ts";
import { doorsWith } from "../support/service.ts";

// What the requests of the API's operations make and do at most: test/work.json has the numbers.

const makeRequest = requestMaker();

/**
 * Operations whose deferred work stores its progress by the clock, and one that runs a task of the
 * schedule on what other tests have left: test/api/budgets.test.ts bounds their round trips.
 */
const NOT_HELD = new Set(["repoMigrate", "repoImport", "adminCronRun"]);

describe("the work of a request", () => {
  it("is no more than a response, kept with its hash, and a line of the log where nothing is read", async () => {
    // The first request to a host parses its address.
    await call("GET", "/version");
    const { work } = await countWork(() => call("GET", "/version"));
    expect(work).toEqual({
      responses: 2,
      headerLists: 0,
      headerWrites: 5,
      urls: 0,
      digests: 1,
      deferred: 0,
      logLines: 1,
      sqlBuilds: 0,
      d1Calls: 0,
      r2Calls: 0,
      objectCalls: 0,
      queueCalls: 0,
    });
  });

  it("is no more than a response and a line of the log where the answer is kept", async () => {
    // It knows of no writes, as those of jobs that other tests have left.
    const unwritten = doorsWith({}, {}, new Writes());
    const { work } = await countWork(async () => {
      await unwritten("GET", "/api/v1/version");
      return unwritten("GET", "/api/v1/version");
    });
    expect(work).toMatchObject({ responses: 3, headerWrites: 5, digests: 1, logLines: 2 });
  });

  it.for(byId(sampled))("is no more than recorded: %s", async ([id, operation], { task }) => {
    const { method, path, content, caller } = await makeRequest(operation);
    const { result, work } = await countWork(() => call(method, path, { as: caller, ...content }));
    expect(result.status).toBe(operation.sample.refusal?.status ?? result.status);
    if (!NOT_HELD.has(id)) expectRecorded(task, { [id]: work });
  });
});
