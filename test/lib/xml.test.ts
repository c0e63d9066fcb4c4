import { describe, expect, it } from "vitest";

import { escapeXml, parseXml, textOf } from "../../src/lib/xml.ts";

const parse = (text: string, bounds = { elementsMax: 10, depthMax: 3 }) =>
  parseXml(new TextEncoder().encode(text), bounds);

describe("an XML document", () => {
  it("is parsed into elements with their attributes and text", async () => {
    expect(await parse('<a x="1">t<b>&lt;<![CDATA[&]]></b> u </a>')).toEqual({
      name: "a",
      attributes: { x: "1" },
      children: [{ name: "b", attributes: {}, children: [], text: "<&" }],
      text: "t u",
    });
  });

  it.each([
    "",
    "text",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    "<a x=1/>",
    "<a>&unknown;</a>",
    '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
    "<!DOCTYPE a><a/>",
    "<a><b><c><d/></c></b></a>",
    `<a>${"<b/>".repeat(10)}</a>`,
  ])("is refused as %s", async (text) => {
    expect(await parse(text)).toBeUndefined();
  });

  it("is written so that any text comes back", async () => {
    const text = `<&>"' \u0001 x`;
    expect(textOf(await parse(`<a><b>${escapeXml(text)}</b></a>`), "b")).toBe(`<&>"'  x`);
  });
});
