import { describe, expect, it } from "vitest";

import { call } from "../support/call.ts";
import { byId, sampled } from "../support/samples/gather.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

const withBody = sampled.filter(({ body }) => body !== undefined);
const withRequired = withBody.filter(({ bodySchema }) => bodySchema?.required !== undefined);
const withRequiredQuery = sampled.filter(({ parameters }) =>
  parameters.some((each) => each.in === "query" && each.required),
);

describe("the fields that the interface description requires", () => {
  it.each(byId(withRequired))("are refused if missing: %s", async (_, operation) => {
    const { method, path, caller, content } = await requestIn(new World(), operation);
    for (const field of operation.bodySchema?.required ?? []) {
      const json: Record<string, unknown> = { ...content.json };
      expect(json, "the sample's body").toHaveProperty(field);
      delete json[field];
      const answer = await call(method, path, { as: caller, json });
      expect(answer, field).toMatchObject({
        status: 422,
        body: { message: `[${field}]: is required` },
      });
    }
  });

  it.each(byId(withRequiredQuery))(
    "are refused if missing in the query: %s",
    async (_, operation) => {
      const { method, path, caller } = await requestIn(new World(), operation);
      const answer = await call(method, path.split("?")[0] ?? "", { as: caller });
      expect(answer.status).toBe(422);
    },
  );

  it("are those of many operations", () => {
    expect(withRequired.length).toBeGreaterThan(25);
    expect(withRequiredQuery.length).toBeGreaterThan(0);
  });
});

describe("all other fields", () => {
  it.each(byId(withBody))("may be missing: %s", async (_, operation) => {
    const { method, path, caller, content } = await requestIn(new World(), operation);
    const sent = Object.entries(content.json ?? {});
    const json = Object.fromEntries(
      sent.filter(([name]) => operation.bodySchema?.required?.includes(name)),
    );
    const { status, body } = await call(method, path, { as: caller, json });
    // A rule on several fields may still refuse the request, but not for a field that is missing.
    expect({ status, message: body?.message ?? "" }).toEqual({
      status: expect.any(Number),
      message: expect.not.stringMatching(/is required$/),
    });
  });
});
