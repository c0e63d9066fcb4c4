import { Buffer } from "node:buffer";

import { describe, expect, it } from "vitest";

import { readImageHeader, type ImageHeader } from "../../src/lib/image-header.ts";
import { stripMetadata } from "../../src/lib/strip-metadata.ts";
import { chunk, PIXELS, pngWith } from "../support/images.ts";

type ContentType = ImageHeader["contentType"];

/** A place that must not stay in an image. */
const SECRET = Buffer.from("48.2082 N 16.3738 E");

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(text, "base64"));
const concat = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.concat(parts));
const holds = (bytes: Uint8Array, text: Uint8Array | string): boolean =>
  Buffer.from(bytes).includes(Buffer.from(text));

/**
 * Strips, and requires that the rest is an image of the same size that has nothing more to strip.
 */
function strip(bytes: Uint8Array<ArrayBuffer>, contentType: ContentType): Uint8Array<ArrayBuffer> {
  const stripped = stripMetadata(bytes, contentType);
  expect(readImageHeader(bytes)).toMatchObject({ contentType });
  expect(readImageHeader(stripped)).toEqual(readImageHeader(bytes));
  expect(stripMetadata(stripped, contentType)).toEqual(stripped);
  return stripped;
}

const segment = (marker: number, content: Uint8Array): Buffer => {
  const header = Buffer.from([0xff, marker, 0, 0]);
  header.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([header, content]);
};
const jpegWith = (...segments: Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const pixel = bytesOf(PIXELS["image/jpeg"]);
  return concat(pixel.subarray(0, 2), ...segments, pixel.subarray(2));
};

/** Exif data with the orientation, after a tag of text with the place. */
function exif(orientation: number, isLittle: boolean): Buffer {
  const tiff = Buffer.alloc(40);
  const [u16, u32] = isLittle
    ? (["writeUInt16LE", "writeUInt32LE"] as const)
    : (["writeUInt16BE", "writeUInt32BE"] as const);
  tiff.write(isLittle ? "II" : "MM", 0, "latin1");
  tiff[u16](42, 2);
  tiff[u32](8, 4);
  tiff[u16](2, 8);
  for (const [at, tag, type, value] of [
    [10, 0x010e, 2, 38],
    [22, 0x0112, 3, orientation],
  ] as const) {
    tiff[u16](tag, at);
    tiff[u16](type, at + 2);
    tiff[u32](1, at + 4);
    tiff[u16](value, at + 8);
  }
  return segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), tiff, SECRET]));
}

describe("stripMetadata", () => {
  it.each(Object.entries(PIXELS))("keeps an image of %s without metadata", (contentType, text) => {
    const bytes = bytesOf(text);
    expect(strip(bytes, contentType as ContentType)).toEqual(bytes);
  });

  it("removes texts, times and Exif data from a PNG, and keeps how it is shown", () => {
    const size = Buffer.from("00000001000000010800000000", "hex");
    const removed = ["tEXt", "zTXt", "iTXt", "tIME", "eXIf", "prVt"].map((type) =>
      chunk(type, SECRET),
    );
    const kept = [chunk("gAMA", Buffer.from([0, 0, 1, 0])), chunk("iCCP", Buffer.from("profile"))];
    const pixels = chunk("IDAT", Buffer.from("eJxjYAAAAAIAAQ==", "base64"));
    const bytes = bytesOf(pngWith(chunk("IHDR", size), ...kept, ...removed, pixels));
    const stripped = strip(bytes, "image/png");
    expect(stripped).toEqual(bytesOf(pngWith(chunk("IHDR", size), ...kept, pixels)));
    expect(holds(stripped, SECRET)).toBe(false);
  });

  it("removes Exif, XMP, comments, thumbnails and what follows from a JPEG", () => {
    const profile = segment(0xe2, Buffer.from("ICC_PROFILE\0x"));
    const adobe = segment(0xee, Buffer.from("Adobe0000000"));
    const jfif = Buffer.from("JFIF\0\x01\x02\0\0\x01\0\x01", "latin1");
    const bytes = concat(
      jpegWith(
        segment(0xe0, Buffer.concat([jfif, Buffer.from([9, 9]), SECRET])),
        exif(1, false),
        segment(0xe1, Buffer.concat([Buffer.from("http://ns.adobe.com/xap/1.0/\0"), SECRET])),
        segment(0xe2, Buffer.concat([Buffer.from("MPF\0"), SECRET])),
        profile,
        segment(0xed, SECRET),
        adobe,
        segment(0xfe, SECRET),
        segment(0xf7, SECRET),
      ),
      bytesOf(PIXELS["image/jpeg"]),
      SECRET,
    );
    const stripped = strip(bytes, "image/jpeg");
    const whole = Buffer.concat([jfif, Buffer.from([0, 0])]);
    expect(stripped).toEqual(jpegWith(segment(0xe0, whole), profile, adobe));
  });

  it.each([
    [6, true],
    [8, false],
  ])(
    "keeps the orientation %i of a photograph, and nothing else of its Exif data",
    (turn, isLittle) => {
      const stripped = strip(jpegWith(exif(turn, isLittle)), "image/jpeg");
      expect(holds(stripped, SECRET)).toBe(false);
      const minimal = Buffer.from(
        "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01",
        "latin1",
      );
      expect(stripped).toEqual(
        jpegWith(segment(0xe1, Buffer.concat([minimal, Buffer.from([0, turn, 0, 0, 0, 0, 0, 0])]))),
      );
    },
  );

  it.each([0, 1, 9, 65_535])("drops an orientation of %i", (turn) => {
    expect(strip(jpegWith(exif(turn, false)), "image/jpeg")).toEqual(bytesOf(PIXELS["image/jpeg"]));
  });

  it("reads scans to their end: stuffed bytes and restarts belong to them", () => {
    const pixel = bytesOf(PIXELS["image/jpeg"]);
    const data = Buffer.from([1, 0xff, 0, 0xff, 0xd0, 2]);
    const scans = concat(
      pixel.subarray(0, -2),
      data,
      segment(0xfe, SECRET),
      segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
      data,
    );
    const stripped = strip(concat(scans, pixel.subarray(-2)), "image/jpeg");
    expect(holds(stripped, SECRET)).toBe(false);
    expect(stripped.length).toBe(scans.length + 2 - SECRET.length - 4);
    // Without its end it is as long as it is, and gets one.
    expect(strip(scans, "image/jpeg")).toEqual(stripped);
  });

  it.each([
    ["an offset beyond its end", "Exif\0\0MM\0*\x7f\xff\xff\xff"],
    ["more entries than it has", "Exif\0\0MM\0*\0\0\0\x08\xff\xff"],
    ["nothing", "Exif\0\0"],
  ])("is not misled by Exif data with %s", (_, text) => {
    const bytes = jpegWith(segment(0xe1, Buffer.from(text, "latin1")));
    expect(strip(bytes, "image/jpeg")).toEqual(bytesOf(PIXELS["image/jpeg"]));
  });

  it("removes comments and applications from a GIF, and keeps its loop", () => {
    const pixel = bytesOf(PIXELS["image/gif"]);
    const start = 13 + 6;
    const block = (label: number, ...blocks: Buffer[]): Buffer =>
      Buffer.concat([
        Buffer.from([0x21, label]),
        ...blocks.flatMap((each) => [Buffer.from([each.length]), each]),
        Buffer.from([0]),
      ]);
    const loop = block(0xff, Buffer.from("NETSCAPE2.0"), Buffer.from([1, 0, 0]));
    const bytes = concat(
      pixel.subarray(0, start),
      block(0xfe, SECRET),
      loop,
      block(0xff, Buffer.from("XMP DataXMP"), SECRET),
      pixel.subarray(start),
    );
    expect(strip(bytes, "image/gif")).toEqual(
      concat(pixel.subarray(0, start), loop, pixel.subarray(start)),
    );
  });

  it("removes Exif and XMP from a WebP, and their flags", () => {
    const part = (name: string, content: Uint8Array): Buffer => {
      const header = Buffer.alloc(8);
      header.write(name, "latin1");
      header.writeUInt32LE(content.length, 4);
      return Buffer.concat([header, content, Buffer.alloc(content.length % 2)]);
    };
    const webp = (...parts: Buffer[]): Uint8Array<ArrayBuffer> =>
      Uint8Array.from(part("RIFF", Buffer.concat([Buffer.from("WEBP"), ...parts])));
    const picture = Buffer.from(bytesOf(PIXELS["image/webp"]).subarray(12));
    const canvas = (flags: number) => part("VP8X", Buffer.from([flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    const profile = part("ICCP", Buffer.from("profile"));
    const removed = ["EXIF", "XMP ", "junk"].map((name) => part(name, SECRET));
    const bytes = webp(canvas(0x2c), profile, picture, ...removed);
    expect(strip(bytes, "image/webp")).toEqual(webp(canvas(0x20), profile, picture));
  });
});
