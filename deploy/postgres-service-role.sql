-- The role of the processes that serve and work. A superuser runs this once; the server of compose.yaml does so by itself
-- when it makes its database. `kopeck migrate --service-role kopeck_service` then grants what the role needs, table by table.
\getenv password SERVICE_PASSWORD
CREATE ROLE kopeck_service LOGIN PASSWORD :'password';
