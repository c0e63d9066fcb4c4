import { Hono } from "hono";

import type { OpenCtx } from "../api/guard.ts";
