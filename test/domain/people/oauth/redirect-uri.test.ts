import { describe, expect, it } from "vitest";

import {
  isRedirectUri,
  isRegistered,
  isSecureRedirectUri,
} from "../../../../src/domain/people/oauth/redirect-uri.ts";

describe("isRedirectUri", () => {
  it.each([
    "https://app.example/cb",
    "https://app.example",
    "https://app.example/cb?a=b",
    "http://ci.internal:8000/authorize",
    "http://127.0.0.1",
    "http://[::1]:9/cb",
    "com.example.app:/oauth",
    "com.example.app://oauth",
  ])("accepts %s", (uri) => expect(isRedirectUri(uri)).toBe(true));

  it.each([
    "",
    "nope",
    "/cb",
    "//app.example/cb",
    "/\\app.example",
    "https:app.example",
    "https:/app.example",
    "https:///app.example",
    "https://",
    "https://app.example/cb#fragment",
    "https://app.example/cb#",
    "https://user@app.example/",
    "https://known.example\\@app.example/",
    "https://app.example;script-src/cb",
    "https://known.example,other.example/cb",
    "https://*.example/cb",
    "https://app.example/\tcb",
    "https://app.example/\ncb",
    " https://app.example/cb",
    "java\nscript:alert(1)",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://app.example/1",
    "about:blank",
  ])("refuses %j", (uri) => expect(isRedirectUri(uri)).toBe(false));
});

describe("isRegistered", () => {
  const redirectUris = [
    "https://app.example/cb",
    "http://127.0.0.1/cb",
    "http://[::1]",
    "my.app:/cb",
  ];
  const registration = "manual";
  const ofPublic = (uri: string) =>
    isRegistered({ redirectUris, registration, isConfidential: false }, uri);
  const ofConfidential = (uri: string) =>
    isRegistered({ redirectUris, registration, isConfidential: true }, uri);

  it.each(redirectUris)("finds %s", (uri) => {
    expect(ofPublic(uri)).toBe(true);
    expect(ofConfidential(uri)).toBe(true);
  });

  it.each([
    "http://127.0.0.1:43211/cb",
    "http://127.0.0.1:80/cb",
    "http://[::1]:9/",
    "http://[::1]:9",
  ])("lets a public client alone take another port of a loopback address: %s", (uri) => {
    expect(ofPublic(uri)).toBe(true);
    expect(ofConfidential(uri)).toBe(false);
  });

  it.each([
    "https://app.example/cb/",
    "https://app.example/CB",
    "https://APP.example/cb",
    "https://app.example:443/cb",
    "https://app.example/cb?x=1",
    "https://app.example/x/../cb",
    "https://app.example/%63b",
    "https://app.example:8443/cb",
    "https://app.example.other.example/cb",
    "http://app.example/cb",
    "https://127.0.0.1:9/cb",
    "http://127.0.0.1:9/other",
    "http://127.0.0.1:9/cb?x=1",
    "http://127.0.0.1:9/cb#x",
    "http://127.0.0.2:9/cb",
    "http://localhost:9/cb",
    "http://127.0.0.1:9@other.example/cb",
    "http://127.0.0.1.other.example:9/cb",
    "my.app:/cb?x",
    "",
  ])("refuses %j for every client", (uri) => {
    expect(ofPublic(uri)).toBe(false);
    expect(ofConfidential(uri)).toBe(false);
  });

  it("lets clients that describe themselves take any port of localhost, by its own name", () => {
    const registered = ["http://localhost/cb", "http://127.0.0.1:1/cb"];
    const isFound = (uri: string, fields = {}) =>
      isRegistered(
        { redirectUris: registered, isConfidential: false, registration: "dynamic", ...fields },
        uri,
      );
    expect(isFound("http://localhost:4711/cb")).toBe(true);
    expect(isFound("http://localhost:4711/cb", { registration: "document" })).toBe(true);
    expect(isFound("http://127.0.0.1:4711/cb")).toBe(true);
    expect(isFound("http://localhost:4711/cb", { registration: "manual" })).toBe(false);
    expect(isFound("http://localhost:4711/cb", { isConfidential: true })).toBe(false);
    for (const uri of [
      "http://[::1]:4711/cb",
      "https://localhost:4711/cb",
      "http://localhost:4711/other",
      "http://localhost.other.example:4711/cb",
      "http://localhost:4711@other.example/cb",
    ]) {
      expect(isFound(uri), uri).toBe(false);
    }
  });
});

describe("isSecureRedirectUri", () => {
  it.each([
    "https://app.example/cb",
    "http://127.0.0.1:4711/cb",
    "http://[::1]/cb",
    "http://localhost:1/cb",
    "cursor://mcp/cb",
    "com.example.app:/cb",
  ])("accepts %s", (uri) => expect(isSecureRedirectUri(uri)).toBe(true));

  it.each([
    "http://app.example/cb",
    "http://127.0.0.1.other.example/cb",
    "http://127.0.0.1@other.example/cb",
    "http://localhost.other.example/cb",
    "http://10.0.0.1/cb",
    "https://app.example/cb#fragment",
    "javascript:alert(1)",
    "data:text/html,x",
    "/cb",
    "",
  ])("refuses %j", (uri) => expect(isSecureRedirectUri(uri)).toBe(false));
});
