import { describe, expect, it } from "vitest";

import { holdsAddress, namesHost, parseHostList, refusesAddress } from "../../src/lib/host-list.ts";
import { parseIpAddress } from "../../src/lib/ip-address.ts";

const list = (text: string) => known(parseHostList(text));
const address = (text: string) => known(parseIpAddress(text));

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("this should be known");
  return value;
}

describe("a list of hosts", () => {
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
    // Everything is not this machine, nor where clouds keep credentials: those are named or not meant.
    ["*", "127.0.0.1", false],
    ["*", "169.254.169.254", false],
    ["*", "64:ff9b::7f00:1", false],
    ["169.254.0.0/16", "169.254.169.254", true],
    ["10.0.0.0/8, 1.1.1.1", "1.1.1.1", true],
    ["", "1.1.1.1", false],
  ])("%j holds %s: %s", (text, ip, isHeld) => {
    expect(holdsAddress(list(text), address(ip))).toBe(isHeld);
  });

  it.each([
    ["10.0.0.0/8", "10.0.0.1", true],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["10.0.0.0/8", "64:ff9b::a00:1", true],
    ["private", "2002:a00:1::", true],
    ["*", "127.0.0.1", true],
    ["10.0.0.0/8", "1.1.1.1", false],
  ])("%j refuses %s: %s", (text, ip, isRefused) => {
    expect(refusesAddress(list(text), address(ip))).toBe(isRefused);
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
  ])("%j names %s: %s", (text, host, isNamed) => {
    expect(namesHost(list(text), host)).toBe(isNamed);
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
  ])("is not %j", (text) => {
    expect(parseHostList(text)).toBeUndefined();
    expect(parseHostList(`external, ${text}`)).toBeUndefined();
  });
});
