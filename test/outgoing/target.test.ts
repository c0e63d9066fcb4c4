import { describe, expect, it } from "vitest";

import { parseTarget } from "../../src/outgoing/target.ts";

// Runs in workerd, because its URL parser decides which host a request is sent to.
describe("parseTarget", () => {
  it.each([
    ["http://example.com", "example.com"],
    ["HTTPS://Example.COM./x?y#z", "example.com"],
    ["https://example.com:8443/x", "example.com"],
    ["http://bücher.example/", "xn--bcher-kva.example"],
    // Every spelling of an address is normalized to the address that the request is sent to.
    ["http://2130706433/", "127.0.0.1"],
    ["http://0x7f000001/", "127.0.0.1"],
    ["http://0x7f.1/", "127.0.0.1"],
    ["http://0177.0.0.1/", "127.0.0.1"],
    ["http://127.1/", "127.0.0.1"],
    ["http://127.0.0.1./", "127.0.0.1"],
    ["http://%31%32%37.0.0.1/", "127.0.0.1"],
    ["http://127。0。0。1/", "127.0.0.1"],
    ["http://①②⑦.0.0.1/", "127.0.0.1"],
    ["http://[0:0:0:0:0:ffff:127.0.0.1]/", "[::ffff:7f00:1]"],
    ["http://ⓛocalhost/", "localhost"],
    ["http://LOCALHOST./", "localhost"],
  ])("parses %s as a URL of host %s", (text, host) => {
    expect(parseTarget(text)).toMatchObject({ kind: "target", host });
  });

  it.each([
    "",
    "example.com",
    "/path",
    "//example.com",
    "http://",
    "http://.",
    "http://a..b/",
    "http://example.com../",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://[fe80::1%25eth0]/",
    "http://[::1/",
    "file:///etc/passwd",
    "ftp://example.com/",
    "ssh://git@example.com/x",
    "git://example.com/x",
    "ext::sh -c id",
    "data:text/plain,x",
    "javascript:alert(1)",
    "gopher://example.com/",
    "ws://example.com/",
    "http://user@example.com/",
    "http://user:secret@example.com/",
    "http://example.com@127.0.0.1/",
    "http://:@example.com:0/",
    "http://example.com\\@127.0.0.1/",
    "http:\\\\127.0.0.1/",
    " http://example.com/",
    "http://example.com/\r\nHost: x",
    "http://exa\tmple.com/",
    "http://example.com/ x",
    "http://example.com/\u0000",
    "http://example.com:22/",
    "http://example.com:25/",
    "http://example.com:0/",
    "http://example.com:6379/",
    "http://example.com:11211/",
    "http://example.com:6667/",
    "http://example.com:65536/",
    `http://example.com/${"x".repeat(4096)}`,
  ])("refuses %j", (text) => {
    expect(parseTarget(text)).toMatchObject({ kind: "blocked" });
  });

  it("resolves a relative URL, and removes the fragment", () => {
    const base = new URL("https://example.com/a/b?c");
    expect(parseTarget("d#e", base)).toMatchObject({ url: new URL("https://example.com/a/d") });
    expect(parseTarget("//127.0.0.1/", base)).toMatchObject({ host: "127.0.0.1" });
  });

  it("does not repeat a refused URL, which may contain a password", () => {
    expect(JSON.stringify(parseTarget("https://user:secret@example.com/"))).not.toContain("secret");
  });
});
