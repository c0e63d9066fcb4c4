import { describe, expect, it } from "vitest";

import {
  embeddedIpv4,
  isInNetwork,
  kindOfAddress,
  parseIpAddress,
  parseNetwork,
} from "../../src/lib/ip-address.ts";

const address = (text: string) => known(parseIpAddress(text));

const known = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("the text should parse");
  return value;
};

const KINDS = {
  external: ["1.1.1.1", "93.184.216.34", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "2a00::1"],
  private: [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "fd12::1",
    "fc00::1",
  ],
  loopback: ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"],
  reserved: [
    "0.0.0.0",
    "0.1.2.3",
    "::",
    // Link-local, used by cloud metadata services.
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "fe80::1",
    "fec0::1",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd20:ce::254",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "ff02::1",
    "100::1",
    "2001:db8::1",
    "3fff::1",
    "4000::1",
    // Each of these embeds an IPv4 address.
    "::7f00:1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:0:7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "2606:4700::5efe:7f00:1",
    "2606:4700::200:5efe:7f00:1",
  ],
} as const;

const cases = Object.entries(KINDS).flatMap(([kind, texts]) =>
  texts.map((text) => ({ kind, text })),
);

describe("kindOfAddress", () => {
  it.each(cases)("classifies $text as $kind", ({ kind, text }) => {
    expect(kindOfAddress(address(text))).toBe(kind);
    const { hostname } = new URL(`http://${text.includes(":") ? `[${text}]` : text}`);
    expect(kindOfAddress(address(hostname))).toBe(kind);
  });
});

describe("parseIpAddress", () => {
  it.each([
    "",
    "localhost",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "01.2.3.4",
    "0x7f.0.0.1",
    "2130706433",
    "1.2.3.4 ",
    "::1%eth0",
    "[fe80::1%25eth0]",
    "1::2::3",
    ":::",
    "12345::",
    "[::1",
    "1:2:3:4:5:6:7:8:9",
  ])("refuses %j", (text) => {
    expect(parseIpAddress(text)).toBeUndefined();
  });
});

describe("embeddedIpv4", () => {
  it.each([
    ["::10.0.0.1", "10.0.0.1"],
    ["::ffff:0:a00:1", "10.0.0.1"],
    ["64:ff9b::a00:1", "10.0.0.1"],
    ["64:ff9b:1::a00:1", "10.0.0.1"],
    ["2002:a00:1::5", "10.0.0.1"],
    ["2001:0:4136:e378:8000:63bf:f5ff:fffe", "10.0.0.1"],
    ["fe80::5efe:a00:1", "10.0.0.1"],
  ])("finds in %s the embedded address %s", (text, hidden) => {
    expect(String(embeddedIpv4(address(text)))).toBe(hidden);
  });

  it.each(["1.1.1.1", "::", "::1", "2606:4700::1111", "fd00::1"])(
    "finds no embedded address in %s",
    (text) => {
      expect(embeddedIpv4(address(text))).toBeUndefined();
    },
  );
});

describe("parseNetwork", () => {
  it.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.7", "10.0.0.7", true],
    ["10.0.0.7", "10.0.0.8", false],
    ["0.0.0.0/0", "8.8.8.8", true],
    // A network of one address family contains no address of the other.
    ["0.0.0.0/0", "2606::1", false],
    ["::/0", "8.8.8.8", false],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["fd00::/8", "fd12::1", true],
    ["::1", "::1", true],
  ])("%s contains %s: %s", (network, text, isIn) => {
    expect(isInNetwork(address(text), known(parseNetwork(network)))).toBe(isIn);
  });

  it.each([
    "",
    "/8",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/08",
    "10.0.0.0/8/8",
    "::/129",
    "[::]/0",
    "a/8",
  ])("refuses %j", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});
