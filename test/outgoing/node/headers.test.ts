import { describe, expect, it } from "vitest";

import { readHeaders } from "../../../src/outgoing/outgoing-headers.ts";

describe("readHeaders", () => {
  it("adds the User-Agent unless the request has one", () => {
    const plain = readHeaders({ Accept: "*/*" }, "Edgeforge");
    expect([...(plain as Headers)]).toEqual([
      ["accept", "*/*"],
      ["user-agent", "Edgeforge"],
    ]);
    const own = readHeaders({ "user-agent": "git/2" }, "Edgeforge");
    expect([...(own as Headers)]).toEqual([["user-agent", "git/2"]]);
  });

  it.each([
    ["Host", "127.0.0.1"],
    ["hOsT", "127.0.0.1"],
    ["Connection", "close"],
    ["Content-Length", "5"],
    ["Transfer-Encoding", "chunked"],
    ["Proxy-Authorization", "Basic x"],
    ["Upgrade", "h2c"],
    ["TE", "trailers"],
    ["", "x"],
    ["X Y", "x"],
    ["X:Y", "x"],
    ["X\r\nHost", "x"],
    ["X-A", "x\r\nHost: y"],
    ["X-A", "x\n"],
    ["X-A", "\rx"],
    ["X-A", "x\u0000"],
    ["X-A", "→"],
    ["X-A", "x".repeat(8193)],
  ])("refuses %j with %j", (name, value) => {
    expect(readHeaders({ [name]: value }, "Edgeforge")).toMatchObject({ kind: "blocked" });
  });
});
