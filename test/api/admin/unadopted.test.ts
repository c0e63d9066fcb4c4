import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { make } from "../../support/make.ts";

describe("unadopted repositories", () => {
  it("do not exist: the storage has those of the service only", async () => {
    const admin = await make.admin();
    const repo = await make.repo(await make.user());
    const listed = await call("GET", "/admin/unadopted?pattern=a*", { as: admin });
    expect(listed).toMatchObject({ status: 200, body: [] });
    expect(listed.headers.get("X-Total-Count")).toBe("0");
    for (const name of [`${repo.owner}/${repo.name}`, `${repo.owner}/nothing`, "none/nothing"]) {
      const path = `/admin/unadopted/${name}`;
      expect(await call("POST", path, { as: admin })).toMatchObject({ status: 404, body: "" });
      expect(await call("DELETE", path, { as: admin })).toMatchObject({ status: 404, body: "" });
    }
    expect((await call("GET", `/repos/${repo.owner}/${repo.name}`)).status).toBe(200);
  });

  it("are for administrators to ask for", async () => {
    const user = await make.user();
    expect((await call("GET", "/admin/unadopted")).status).toBe(401);
    expect((await call("GET", "/admin/unadopted", { as: user })).status).toBe(403);
    expect((await call("POST", "/admin/unadopted/a/b", { as: user })).status).toBe(403);
    expect((await call("DELETE", "/admin/unadopted/a/b", { as: user })).status).toBe(403);
  });
});
