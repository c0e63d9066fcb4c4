import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";

import { describeApi } from "../../src/api/document.ts";

describe("the interface description", () => {
  const document = structuredClone(describeApi());

  it("is valid OpenAPI with the version and the server of the contract", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone({ ...document }));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(document).toMatchObject({ info: { version: "1.1.1" }, servers: [{ url: "/api/v1" }] });
  });

  it("is the same each time it is built", () => {
    expect(describeApi()).toEqual(document);
  });

  it("refers only to components that it defines", () => {
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    const known = Object.keys(document.components?.schemas ?? {});
    for (const [, name] of names) expect(known).toContain(name);
    expect(names.length).toBeGreaterThan(0);
  });
});
