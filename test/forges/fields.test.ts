import { expect, it } from "vitest";
import { z } from "zod";

import { time, timeOrNull } from "../../src/forges/fields.ts";

const AT = Date.UTC(2024, 0, 2, 3, 4, 5);

it.each([
  [{ at: "2024-01-02T03:04:05Z" }, AT],
  [{ at: "2024-01-02T04:04:05+01:00" }, AT],
  [{ at: "" }, null],
  [{ at: null }, null],
  [{}, null],
  [{ at: "0001-01-01T00:00:00Z" }, null],
  [{ at: "1970-01-01T00:00:00Z" }, null],
  [{ at: "+275760-09-13T00:00:00Z" }, Date.UTC(9999, 11, 31, 23, 59, 59)],
])("reads %j as a time or none", (value, expected) => {
  expect(z.object({ at: timeOrNull }).parse(value)).toEqual({ at: expected });
});

it.each([{ at: "yesterday" }, { at: "" }, { at: null }, {}])("refuses %j as a time", (value) => {
  expect(z.object({ at: time }).safeParse(value).success).toBe(false);
});
