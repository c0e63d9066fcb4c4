import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";

describe("GET /label/templates", () => {
  it("lists the names of all templates, each of which is found", async () => {
    expect(await call("GET", "/label/templates")).toMatchObject({
      status: 200,
      body: ["Advanced", "Default"],
    });
    const found = await call("GET", "/label/templates/Default");
    expect(found.body).toHaveLength(7);
    expect(found.body[0]).toEqual({
      name: "bug",
      exclusive: false,
      color: "ee0701",
      description: "Something is not working",
    });
    const { body } = await call("GET", "/label/templates/Advanced");
    expect(body).toHaveLength(18);
    expect(body).toContainEqual({
      name: "Reviewed/Won't Fix",
      exclusive: true,
      color: "eeeeee",
      description: "This issue won't be fixed",
    });
  });

  it("lists labels with colours of six digits, and exclusive ones with a scope", async () => {
    for (const name of ["Advanced", "Default"]) {
      const { body } = await call("GET", `/label/templates/${name}`);
      for (const label of body as { name: string; color: string; exclusive: boolean }[]) {
        expect(label.color, label.name).toMatch(/^[0-9a-f]{6}$/);
        expect(label.name, label.name).toMatch(label.exclusive ? /^[^/]+\/[^/]+$/ : /./);
      }
    }
  });

  it.each(["nothere", "default", "constructor", "__proto__", "0"])(
    "is not found for %j",
    async (name) => {
      expect(await call("GET", `/label/templates/${name}`)).toMatchObject({
        status: 404,
        body: "",
      });
    },
  );
});
