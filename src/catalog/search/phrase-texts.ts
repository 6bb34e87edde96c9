import airbnb from "./phrases/airbnb.txt";
import airtable from "./phrases/airtable.txt";
import antvChart from "./phrases/antv-chart.txt";
import azure from "./phrases/azure.txt";
import braveSearch from "./phrases/brave-search.txt";
import browserbase from "./phrases/browserbase.txt";
import chromeDevtools from "./phrases/chrome-devtools.txt";
import circleci from "./phrases/circleci.txt";
import cloudflare from "./phrases/cloudflare.txt";
import context7 from "./phrases/context7.txt";
import digitalocean from "./phrases/digitalocean.txt";
import elasticsearch from "./phrases/elasticsearch.txt";
import everything from "./phrases/everything.txt";
import exa from "./phrases/exa.txt";
import excel from "./phrases/excel.txt";
import executeautomationPlaywright from "./phrases/executeautomation-playwright.txt";
import figma from "./phrases/figma.txt";
import filesystem from "./phrases/filesystem.txt";
import firecrawl from "./phrases/firecrawl.txt";
import git from "./phrases/git.txt";
import github from "./phrases/github.txt";
import gitlab from "./phrases/gitlab.txt";
import gitlabCommunity from "./phrases/gitlab-community.txt";
import googleMaps from "./phrases/google-maps.txt";
import hubspot from "./phrases/hubspot.txt";
import jira from "./phrases/jira.txt";
import kubernetes from "./phrases/kubernetes.txt";
import lark from "./phrases/lark.txt";
import mapbox from "./phrases/mapbox.txt";
import memory from "./phrases/memory.txt";
import mobile from "./phrases/mobile.txt";
import mongodb from "./phrases/mongodb.txt";
import n8n from "./phrases/n8n.txt";
import neon from "./phrases/neon.txt";
import notion from "./phrases/notion.txt";
import pinecone from "./phrases/pinecone.txt";
import playwright from "./phrases/playwright.txt";
import postgres from "./phrases/postgres.txt";
import postman from "./phrases/postman.txt";
import puppeteer from "./phrases/puppeteer.txt";
import sentry from "./phrases/sentry.txt";
import sequentialThinking from "./phrases/sequential-thinking.txt";
import shadcnUi from "./phrases/shadcn-ui.txt";
import slack from "./phrases/slack.txt";
import taskMaster from "./phrases/task-master.txt";
import taskmanager from "./phrases/taskmanager.txt";
import tavily from "./phrases/tavily.txt";
import trello from "./phrases/trello.txt";
import xcodebuild from "./phrases/xcodebuild.txt";
import xero from "./phrases/xero.txt";

/** What the phrase book says, one text per server. Loaded with the first index: a start has no use for it. */
export const phraseTexts: readonly string[] = [
  airbnb,
  airtable,
  antvChart,
  azure,
  braveSearch,
  browserbase,
  chromeDevtools,
  circleci,
  cloudflare,
  context7,
  digitalocean,
  elasticsearch,
  everything,
  exa,
  excel,
  executeautomationPlaywright,
  figma,
  filesystem,
  firecrawl,
  git,
  github,
  gitlab,
  gitlabCommunity,
  googleMaps,
  hubspot,
  jira,
  kubernetes,
  lark,
  mapbox,
  memory,
  mobile,
  mongodb,
  n8n,
  neon,
  notion,
  pinecone,
  playwright,
  postgres,
  postman,
  puppeteer,
  sentry,
  sequentialThinking,
  shadcnUi,
  slack,
  taskMaster,
  taskmanager,
  tavily,
  trello,
  xcodebuild,
  xero,
];
