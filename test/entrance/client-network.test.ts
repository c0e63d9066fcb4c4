import { describe, expect, it } from "vitest";

import { readClientNetwork } from "../../src/entrance/client-network.ts";

describe("readClientNetwork", () => {
  it.each([
    ["an IPv4 address", "192.0.2.1", "192.0.2.1"],
    ["an IPv6 address, by its first 64 bits", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["an IPv4 address in IPv6", "::ffff:192.0.2.1", "192.0.2.1"],
    // SECURITY: the client may write anything before what the proxy adds.
    ["the last address of a list", "10.0.0.1, 192.0.2.1", "192.0.2.1"],
    ["no address", "localhost", undefined],
    ["nothing", "", undefined],
  ])("reads %s", (_, value, expected) => {
    expect(readClientNetwork(new Headers({ "X-Client": value }), "X-Client")).toBe(expected);
  });

  it("trusts no header but the configured one", () => {
    const headers = new Headers({ "CF-Connecting-IP": "192.0.2.1" });
    expect(readClientNetwork(headers, "X-Real-IP")).toBeUndefined();
    expect(readClientNetwork(headers, "")).toBeUndefined();
  });
});
