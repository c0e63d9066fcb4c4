import { describe, expect, it } from "vitest";

import { EDGEFORGE_VERSION } from "../../../src/domain/version.ts";
import { call, visit } from "../../support/call.ts";
import { make } from "../../support/make.ts";

const INFO = {
  version: "2.1",
  software: { name: "edgeforge", version: EDGEFORGE_VERSION },
  protocols: [],
  services: { inbound: [], outbound: [] },
  openRegistrations: false,
  usage: { users: {} },
  metadata: {},
};

describe("GET /nodeinfo", () => {
  it("is where /.well-known/nodeinfo leads", async () => {
    const { status, body } = await visit("GET", "/.well-known/nodeinfo");
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        links: [
          {
            rel: "http://nodeinfo.diaspora.software/ns/schema/2.1",
            href: "https://forge.example/api/v1/nodeinfo",
          },
        ],
      },
    });
    const { pathname } = new URL(body.links[0].href);
    expect(await visit("GET", pathname)).toMatchObject({ status: 200, body: INFO });
  });

  // Accounts may be private, and anyone may ask.
  it("hides how many accounts there are", async () => {
    const admin = await make.admin();
    expect((await call("GET", "/nodeinfo", { as: admin })).body).toEqual(INFO);
  });
});
