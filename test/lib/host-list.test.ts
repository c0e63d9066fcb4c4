import { describe, expect, it } from "vitest";

import {
  containsAddress,
  matchesHost,
  parseHostList,
  blocksAddress,
} from "../../src/lib/host-list.ts";
import { parseIpAddress } from "../../src/lib/ip-address.ts";

const list = (text: string) => known(parseHostList(text));
const address = (text: string) => known(parseIpAddress(text));

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the text should parse");
  return value;
}

describe("a host list", () => {
  it.each([
    ["external", "1.1.1.1", true],
    ["external", "10.0.0.1", false],
    ["external", "127.0.0.1", false],
    ["external", "169.254.169.254", false],
    ["private", "10.0.0.1", true],
    ["private", "127.0.0.1", false],
    ["private", "169.254.169.254", false],
    ["loopback", "::1", true],
    ["localhost", "127.0.0.1", true],
    [" External ,LOOPBACK,", "127.0.0.1", true],
    ["*", "10.0.0.1", true],
    ["*", "1.1.1.1", true],
    // `*` covers neither loopback addresses nor cloud metadata services; the list must name them.
    ["*", "127.0.0.1", false],
    ["*", "169.254.169.254", false],
    ["*", "64:ff9b::7f00:1", false],
    ["169.254.0.0/16", "169.254.169.254", true],
    ["10.0.0.0/8, 1.1.1.1", "1.1.1.1", true],
    ["", "1.1.1.1", false],
  ])("%j contains %s: %s", (text, ip, isContained) => {
    expect(containsAddress(list(text), address(ip))).toBe(isContained);
  });

  it.each([
    ["10.0.0.0/8", "10.0.0.1", true],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["10.0.0.0/8", "64:ff9b::a00:1", true],
    ["private", "2002:a00:1::", true],
    ["*", "127.0.0.1", true],
    ["10.0.0.0/8", "1.1.1.1", false],
  ])("%j as a block list blocks %s: %s", (text, ip, isBlocked) => {
    expect(blocksAddress(list(text), address(ip))).toBe(isBlocked);
  });

  it.each([
    ["hooks.example.com", "hooks.example.com", true],
    ["hooks.example.com", "a.hooks.example.com", false],
    ["hooks.example.com", "hooksxexample.com", false],
    ["*.example.com", "a.b.example.com", true],
    ["*.example.com", "example.com", false],
    ["*.example.com", "a.example.com.evil.net", false],
    ["ci-?.example.com", "ci-1.example.com", true],
    ["ci-?.example.com", "ci-10.example.com", false],
    ["xn--bcher-kva.example", "xn--bcher-kva.example", true],
    ["*", "example.com", false],
    ["external", "external", false],
  ])("a pattern of %j matches %s: %s", (text, host, isMatched) => {
    expect(matchesHost(list(text), host)).toBe(isMatched);
  });

  it.each([
    "a b",
    "http://a",
    "a/b",
    "10.0.0.0/33",
    "127.1",
    "1.2.3.4.5",
    "a..b",
    ".a",
    "[::1]",
    "a:80",
    "bücher.example",
  ])("refuses %j, alone or in a list", (text) => {
    expect(parseHostList(text)).toBeUndefined();
    expect(parseHostList(`external, ${text}`)).toBeUndefined();
  });
});
