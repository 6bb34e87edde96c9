import { describe, expect, test } from "vitest";
import { childEnvironment } from "./child-environment.ts";

describe("childEnvironment", () => {
  const own = {
    PATH: "/bin",
    HOME: "/home/me",
    LC_TIME: "de_DE",
    TOOLYARD_KEY: "secret",
    TOOLYARD_INSTANCE: "outer",
    AWS_SECRET_ACCESS_KEY: "secret",
    NODE_OPTIONS: "--inspect",
    npm_config__auth: "secret",
    SHELL: "() { :; }; evil",
    HTTPS_PROXY: "http://proxy.example:3128",
    http_proxy: "http://me:secret@proxy.example:3128",
    NO_PROXY: "localhost",
    MISSING: undefined,
  };

  test("passes the short list on and nothing else", () => {
    expect(childEnvironment(own, {}, "linux")).toEqual({
      PATH: "/bin",
      HOME: "/home/me",
      LC_TIME: "de_DE",
      HTTPS_PROXY: "http://proxy.example:3128",
      NO_PROXY: "localhost",
    });
  });

  test("what the configuration gives wins", () => {
    expect(childEnvironment({ PATH: "/bin" }, { PATH: "/opt", TOKEN: "t" }, "linux")).toEqual({
      PATH: "/opt",
      TOKEN: "t",
    });
  });

  test("on Windows names differ by more than case only", () => {
    const windows = {
      Path: "C:\\Windows",
      SystemRoot: "C:\\Windows",
      APPDATA: "C:\\Users\\me",
      SECRET: "s",
    };
    expect(childEnvironment(windows, { PATH: "D:\\bin" }, "win32")).toEqual({
      PATH: "D:\\bin",
      SystemRoot: "C:\\Windows",
      APPDATA: "C:\\Users\\me",
    });
  });
});
