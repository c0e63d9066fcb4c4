import { describe, expect, it } from "vitest";

import { call } from "../support/call.ts";
import { operations, type Operation } from "../support/operations.ts";
import { logged } from "../support/usage.ts";
import { makeWorld } from "../support/world.ts";

/** D1 calls that may wait for one another: each is a trip to a database that may be far away. */
const READ_ROUNDS_MAX = 2;
const WRITE_ROUNDS_MAX = 3;

/** What asks the database nothing for callers without a credential. */
const WITHOUT_DATABASE = new Set([
  "getVersion",
  "getGeneralAPISettings",
  "getGeneralRepositorySettings",
  "getGitignoreTemplateInfo",
  "getSigningKey",
  "getSigningKeySSH",
  "getSigningKeyOpenSSH",
  "getLicenseTemplateInfo",
  "listGitignoresTemplates",
  "listLicenseTemplates",
]);

/** What is refused here, since what it takes is hard to come by; a refusal has the same bound. */
const REFUSED = new Set([
  "repoCreateKey",
  "userCurrentPostKey",
  "userCurrentPostGPGKey",
  "userVerifyGPGKey",
  "userDeleteAccessToken",
  "userDeleteEmail",
  // This service has no key; one that has is told of in meta/signing-keys.test.ts.
  "getSigningKey",
  "getSigningKeySSH",
  "getSigningKeyOpenSSH",
  "repoSigningKey",
  "repoSigningKeySSH",
  "repoSigningKeyOpenSSH",
]);

/** What takes a round more: by hand and seldom asked for, it finds a second thing that the path does not name. */
const WITH_ANOTHER_ROUND = new Set(["orgTestHook", "userTestHook", "adminTestHook"]);

const named = operations.map((operation) => [operation.id, operation] as const);
const isRead = ({ method, id }: Operation): boolean => method === "GET" || id.startsWith("render");

describe("round trips to D1", () => {
  it.each(named)("stay within the budget, signed in: %s", async (id, operation) => {
    const { caller, path, json } = await makeWorld(operation);
    const body = id === "renderMarkdownRaw" ? { body: "*a* @ada" } : {};
    const { answer, line } = await logged(() =>
      call(operation.method, path, { as: caller, ...(json && { json }), ...body }),
    );
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500);
    expect(answer.status < 300, `${answer.status} ${JSON.stringify(answer.body)}`).toBe(
      !REFUSED.has(id),
    );
    const roundsMax = isRead(operation) ? READ_ROUNDS_MAX : WRITE_ROUNDS_MAX;
    expect(line.d1Rounds).toBeLessThanOrEqual(roundsMax + (WITH_ANOTHER_ROUND.has(id) ? 1 : 0));
  });

  it.each(named.filter(([, { isOpen }]) => isOpen))(
    "stay within the budget for anonymous callers: %s",
    async (id, operation) => {
      const { path, json } = await makeWorld(operation);
      const { answer, line } = await logged(() =>
        call(operation.method, path, json ? { json } : {}),
      );
      expect(answer.status < 300).toBe(!REFUSED.has(id));
      expect(line.d1Rounds).toBeLessThanOrEqual(WITHOUT_DATABASE.has(id) ? 0 : READ_ROUNDS_MAX);
    },
  );
});
